/**
 * What is shown follows what happens: views load again when the gateway's stream says that something came, at most once a
 * second, and every few seconds anyway, more often while there is no stream.
 */
import { useEffect } from 'preact/hooks';

const EVERY_MS = 3000;
/** With a stream, one look in so many is enough for what it does not tell of. */
const SELDOM = 5;

const views = new Set<() => void>();
let stream: EventSource | null = null;
let looks = 0;

function lookAgain(): void {
  if (!document.hidden) for (const load of [...views]) load();
}

/**
 * A browser has few connections to a server: a page that nobody looks at holds none, or the seventh tab would never load.
 * Otherwise it connects anew by itself, unless it was refused: then the next view, or the next look at the page, asks again.
 */
function listen(): void {
  if (document.hidden || views.size === 0) {
    stream?.close();
    stream = null;
  } else if (stream === null || stream.readyState === EventSource.CLOSED) {
    stream = new EventSource('/api/events');
    stream.onmessage = lookAgain;
  }
}

document.addEventListener('visibilitychange', () => {
  listen();
  lookAgain();
});

setInterval(() => {
  looks++;
  if (stream?.readyState !== EventSource.OPEN || looks % SELDOM === 0) lookAgain();
}, EVERY_MS);

/** @param load null: the view is not live */
export function useLive(load: (() => void) | null): void {
  useEffect(() => {
    if (load === null) return;
    views.add(load);
    listen();
    return () => void views.delete(load);
  }, [load]);
}
