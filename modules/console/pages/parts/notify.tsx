/** The latest result message. Screen readers announce it. It disappears after eight seconds, or with the view that caused it. */
import { useEffect, useRef, useState } from 'preact/hooks';

interface Message {
  readonly text: string;
  readonly kind: 'good' | 'bad';
  /** Called if a person presses Undo. */
  readonly undo?: () => void;
}

const SHOWN_MS = 8000;
let show = (_message: Message): void => {};

export const notify = (text: string, kind: Message['kind'], undo?: () => void): void =>
  show({ text, kind, ...(undo === undefined ? {} : { undo }) });

/** How long a person can undo an action, in ms. */
const UNDO_MS = 5000;
/** The action that can still be undone. */
let pending: { readonly act: () => void; readonly timer: number } | null = null;

/** Acts now if an action waits, as when the person leaves the view. */
function actNow(): void {
  if (pending === null) return;
  const { act, timer } = pending;
  clearTimeout(timer);
  pending = null;
  act();
}

addEventListener('hashchange', actNow);

/** Acts after five seconds unless a person presses Undo. If the tab is closed before, nothing happens. @param undone called after Undo */
export function actLater(text: string, act: () => Promise<string>, undone: () => void): void {
  actNow();
  const run = (): void => {
    pending = null;
    act().then(
      (message) => notify(message, 'good'),
      (error: Error) => {
        undone();
        notify(error.message, 'bad');
      },
    );
  };
  const timer = window.setTimeout(run, UNDO_MS);
  pending = { act: run, timer };
  notify(text, 'good', () => {
    clearTimeout(timer);
    pending = null;
    undone();
    notify('Undone. Nothing was sent.', 'good');
  });
}

/** @param place address of the view */
export function Messages({ place: path }: { place: string }) {
  const [message, setMessage] = useState<Message | null>(null);
  const place = useRef<HTMLDivElement>(null);
  const shownAt = useRef('');
  show = (next) => {
    // An action may open another view right after its message: the message belongs to that view.
    setTimeout(() => {
      shownAt.current = location.hash;
      setMessage(next);
    });
  };
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
          {message.undo !== undefined && (
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
