/** What a piece of work costs this process: unlike the time it takes, hardly more on a busy machine. */

/** @returns CPU time of synchronous work in ms */
export function cpuTime(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
