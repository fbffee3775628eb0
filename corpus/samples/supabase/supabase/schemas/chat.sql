-- What the migrations come to, for `supabase db diff`.
create table public.rooms (id bigint generated always as identity primary key, name text not null);
alter publication supabase_realtime add table public.rooms;
