/** The latest result message. Screen readers announce it. It disappears after eight seconds, or with the view that caused it. */
import { useEffect, useRef, useState } from 'preact/hooks';

interface Message {
  readonly text: string;
  readonly kind: 'good' | 'bad';
  /** Called if a person presses Undo. */
  readonly undo: (() => void) | null;
}

const SHOWN_MS = 8000;
let show: (message: Message) => unknown = () => {};

export const notify = (text: string, kind: Message['kind'], undo: Message['undo'] = null): unknown =>
  show({ text, kind, undo });

/** How long a person can undo an action, in ms. */
const UNDO_MS = 5000;
/** Ends the time to undo, and acts. Null: nothing can be undone. */
let actNow: (() => void) | null = null;

// When the person leaves the view.
addEventListener('hashchange', () => actNow?.());

/** Acts after five seconds unless a person presses Undo. If the tab is closed before, nothing happens. @param undone called after Undo */
export function actLater(text: string, act: () => Promise<string>, undone: () => void): void {
  actNow?.();
  const stop = (): void => {
    clearTimeout(timer);
    actNow = null;
  };
  const run = (): void => {
    stop();
    act().then(
      (message) => notify(message, 'good'),
      (error: Error) => {
        undone();
        notify(error.message, 'bad');
      },
    );
  };
  const timer = setTimeout(run, UNDO_MS);
  actNow = run;
  notify(text, 'good', () => {
    stop();
    undone();
    notify('Undone. Nothing was sent.', 'good');
  });
}

/** @param place address of the view */
export function Messages({ place: path }: { place: string }) {
  const [message, setMessage] = useState<Message | null>(null);
  const place = useRef<HTMLDivElement>(null);
  const shownAt = useRef('');
  // An action may open another view right after its message, which then belongs to that view.
  show = (next) =>
    setTimeout(() => {
      shownAt.current = location.hash;
      setMessage(next);
    });
  useEffect(() => {
    if (location.hash !== shownAt.current) setMessage(null);
  }, [path]);
  useEffect(() => {
    // Reopens the popover for each message, so that it is above any open dialog.
    place.current?.hidePopover();
    if (message === null) return;
    place.current?.showPopover();
    const timer = setTimeout(() => setMessage(null), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [message]);
  return (
    <div class="toast" role="status" popover="manual" ref={place}>
      {message !== null && (
        <p class={message.kind}>
          {message.text}{' '}
          {message.undo !== null && (
            <button type="button" onClick={message.undo}>
              Undo
            </button>
          )}{' '}
          <button type="button" aria-label="Close message" onClick={() => setMessage(null)}>
            ×
          </button>
        </p>
      )}
    </div>
  );
}
