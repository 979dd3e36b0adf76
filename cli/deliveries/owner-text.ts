/** What a delivery belongs to, in words: its route, its job, or the gateway, whose own messages have neither. */
export function ownerText({ route, job }: { readonly route: string | null; readonly job: string | null }): string {
  if (route !== null) return route;
  return job === null ? '(gateway)' : `job ${job}`;
}
