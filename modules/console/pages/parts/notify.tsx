/** Messages about what was done, read out by screen readers, which go by themselves. */
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
  const [messages, setMessages] = useState<readonly Message[]>([]);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let last = 0;
    show = (text, kind) => {
      const id = ++last;
      setMessages((before) => [...before.slice(-3), { id, text, kind }]);
      setTimeout(() => setMessages((before) => before.filter((each) => each.id !== id)), SHOWN_MS);
    };
  }, []);
  // Above a dialog that is open, whenever there is a new one.
  useEffect(() => {
    place.current?.hidePopover();
    if (messages.length > 0) place.current?.showPopover();
  }, [messages]);
  return (
    <div class="toast" role="status" popover="manual" ref={place}>
      {messages.map(({ id, text, kind }) => (
        <p key={id} class={kind}>
          {text}
        </p>
      ))}
    </div>
  );
}
