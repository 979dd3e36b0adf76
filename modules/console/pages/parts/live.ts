/** What is shown follows what happens: views load again every few seconds while somebody looks at them. */
import { useEffect } from 'preact/hooks';

const EVERY_MS = 3000;

/** @param load null: the view is not live */
export function useLive(load: (() => void) | null): void {
  useEffect(() => {
    if (load === null) return;
    const timer = setInterval(() => {
      if (!document.hidden) load();
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [load]);
}
