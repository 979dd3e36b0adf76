/** The latest result message. Screen readers announce it. It disappears after eight seconds, or with the view that caused it. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

interface Message {
  readonly text: string;
  readonly kind: 'good' | 'bad';
  readonly action: ComponentChildren;
}

const SHOWN_MS = 8000;
let show: (message: Message) => unknown = () => {};

/** @param action a button in the message */
export const notify = (text: string, kind: Message['kind'], action: ComponentChildren = null): unknown =>
  show({ text, kind, action });

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
    if (message.action !== null) place.current?.querySelector('button')?.focus();
    const timer = setTimeout(() => setMessage(null), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [message]);
  return (
    <div class="toast" role="status" popover="manual" ref={place}>
      {message !== null && (
        <p class={message.kind}>
          {message.text} {message.action}{' '}
          <button type="button" aria-label="Close message" onClick={() => setMessage(null)}>
            ×
          </button>
        </p>
      )}
    </div>
  );
}
