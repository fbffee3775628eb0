create table public.profiles (
  id uuid primary key references auth.users on delete cascade,
  name text not null,
  phone text
);

alter table public.profiles enable row level security;
create policy "own profile" on public.profiles for select using (auth.uid() = id);

-- Everything but the phone number.
alter publication supabase_realtime add table public.profiles (id, name);
