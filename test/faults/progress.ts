/** Says on stderr how far a long table is, so that it does not seem to hang. */

/** At most one line in this time, in ms. */
const EVERY_MS = 15_000;

/** @param total cells, about @returns a function to call after each cell */
export function startProgress(name: string, total: number): () => void {
  const begun = performance.now();
  let [done, saidAt] = [0, begun];
  console.error(`${name}: about ${total} cells`);
  return () => {
    done++;
    const now = performance.now();
    if (now - saidAt < EVERY_MS) return;
    saidAt = now;
    const seconds = (now - begun) / 1000;
    const left = Math.max(0, (seconds / done) * (total - done));
    console.error(`${name}: ${done} of about ${total} cells in ${seconds.toFixed(0)} s, ${left.toFixed(0)} s left`);
  };
}
