create table public.messages (
  room_id bigint not null,
  sender uuid not null references public.profiles,
  body text not null,
  sent_at timestamptz not null default now()
);

alter publication supabase_realtime add table public.messages;
