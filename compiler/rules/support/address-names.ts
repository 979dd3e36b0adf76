/** Common alternative names for the fields of an address. */
const SAME: Readonly<Record<string, string>> = {
  repository: 'repo',
  pr: 'pr_number',
  pull_request: 'pr_number',
  issue: 'pr_number',
  issue_number: 'pr_number',
  number: 'pr_number',
  chat: 'chat_id',
  channel: 'chat_id',
  channel_id: 'chat_id',
  room: 'chat_id',
  room_id: 'chat_id',
  to: 'chat_id',
  recipient: 'chat_id',
  thread: 'thread_id',
  thread_ts: 'thread_id',
  topic_id: 'message_thread_id',
};

/** The field that an unknown key of `deliver_extra` means, or null. */
export function meantField(key: string, known: readonly string[]): string | null {
  const meant = Object.hasOwn(SAME, key) ? SAME[key] : undefined;
  return meant !== undefined && known.includes(meant) ? meant : null;
}
