-- Already a member since the twelfth of February.
alter publication supabase_realtime add table public.rooms;
