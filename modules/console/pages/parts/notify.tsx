/** The latest message about what was done, read out by screen readers, which goes by itself. */
import { useEffect, useRef, useState } from 'preact/hooks';

interface Message {
  readonly id: number;
  readonly text: string;
  readonly kind: 'good' | 'bad';
}

const SHOWN_MS = 8000;
let show = (_text: string, _kind: Message['kind']): void => {};

export const notify = (text: string, kind: Message['kind']): void => show(text, kind);

export function Messages() {
  const [message, setMessage] = useState<Message | null>(null);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let last = 0;
    show = (text, kind) => {
      const id = ++last;
      setMessage({ id, text, kind });
      setTimeout(() => setMessage((before) => (before?.id === id ? null : before)), SHOWN_MS);
    };
  }, []);
  // Above a dialog that is open, whenever there is a new one.
  useEffect(() => {
    place.current?.hidePopover();
    if (message !== null) place.current?.showPopover();
  }, [message]);
  return (
    <div class="toast" role="status" popover="manual" ref={place}>
      {message !== null && (
        <p key={message.id} class={message.kind}>
          {message.text}{' '}
          <button type="button" aria-label="Close the message" onClick={() => setMessage(null)}>
            ×
          </button>
        </p>
      )}
    </div>
  );
}
