/** The CPU time of a piece of work, which depends less on other load than its duration. */

/** @returns CPU time of synchronous work in ms */
export function cpuTime(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
