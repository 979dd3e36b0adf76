/** The latest result message. Screen readers announce it, and it disappears after eight seconds. */
import { useEffect, useRef, useState } from 'preact/hooks';

interface Message {
  readonly text: string;
  readonly kind: 'good' | 'bad';
}

const SHOWN_MS = 8000;
let show = (_message: Message): void => {};

export const notify = (text: string, kind: Message['kind']): void => show({ text, kind });

export function Messages() {
  const [message, setMessage] = useState<Message | null>(null);
  const place = useRef<HTMLDivElement>(null);
  show = setMessage;
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
          <button type="button" aria-label="Close message" onClick={() => setMessage(null)}>
            ×
          </button>
        </p>
      )}
    </div>
  );
}
