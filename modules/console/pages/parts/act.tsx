/** Buttons that do something at the gateway: what they did is said. What changes something is there for operators only. */
import type { ComponentChildren } from 'preact';
import { useContext, useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { instant } from './format.ts';
import { notify } from './notify.tsx';
import { Session } from './role.tsx';

type Children = { readonly children?: ComponentChildren };

/** What only an operator may use. */
export const Operator = ({ children }: Children) => (useContext(Session)?.role === 'operator' ? children : null);

/** Gives the focus to the heading of the view when the button goes that has it: what it did was all there was to do. */
function useButton() {
  const button = useRef<HTMLButtonElement>(null);
  const leave = (): void => {
    if (document.activeElement === button.current) document.querySelector('h1')?.focus();
  };
  useLayoutEffect(() => leave, []);
  return button;
}

interface ActProps extends Children {
  /** Resolves with what to say. */
  readonly act: () => Promise<string>;
  readonly primary?: boolean;
  /** For those who do not see what the button stands beside. */
  readonly label?: string | undefined;
}

/** A button that does something at the gateway, and says how that went. */
export function Act({ act, primary = false, label, children }: ActProps) {
  const [isBusy, setBusy] = useState(false);
  const button = useButton();
  const run = (): void => {
    if (isBusy) return;
    setBusy(true);
    act()
      .then(
        (said) => notify(said, 'good'),
        (error: Error) => notify(error.message, 'bad'),
      )
      .finally(() => setBusy(false));
  };
  return (
    // Not `disabled`, which would take the focus away.
    <button
      type="button"
      ref={button}
      class={primary ? 'primary' : ''}
      onClick={run}
      aria-disabled={isBusy}
      aria-label={label}
    >
      {children}
    </button>
  );
}

/** @param text what is copied @param note said of it */
export function Copy({
  text,
  note = '',
  children,
}: { text: () => string | Promise<string>; note?: string } & Children) {
  const act = async (): Promise<string> => {
    await copy(await text());
    return `Copied. ${note}`.trim();
  };
  return <Act act={act}>{children}</Act>;
}

/** The clipboard is for pages over TLS and on this machine; elsewhere the selection is copied. */
async function copy(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  if (!isCopied) throw new Error('this browser does not let the page copy');
}

interface AskProps extends Children {
  readonly text: string;
  readonly label?: string;
  readonly title: string;
  /** What can be done, by the texts of its buttons. */
  readonly choices: Readonly<Record<string, () => Promise<string>>>;
  /** What was done is shown in the dialog, which stays open. */
  readonly stays?: boolean;
  readonly opened?: () => void;
}

/** A button that opens a dialog, in which something can be done. */
export function Ask({ text, label, title, choices, stays = false, opened, children }: AskProps) {
  const [isOpen, setOpen] = useState(false);
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // That gives the focus back to the button; so it is closed before the button goes, as when somebody else has answered.
  const close = (): void => dialog.current?.close();
  useLayoutEffect(() => close, []);
  const button = useButton();
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
  }, [isOpen]);
  const open = (): void => {
    opened?.();
    setOpen(true);
  };
  const then = (act: () => Promise<string>) => async (): Promise<string> => {
    const said = await act();
    if (!stays) close();
    return said;
  };
  const all = Object.entries(choices);
  return (
    <>
      <button type="button" ref={button} aria-label={label} onClick={open}>
        {text}
      </button>
      {isOpen && (
        <dialog ref={dialog} aria-labelledby={heading} onClose={() => setOpen(false)}>
          <h2 id={heading}>{title}</h2>
          {children}
          <div class="bar">
            {all.map(([choice, act]) => (
              <Act key={choice} act={then(act)} primary={all.length === 1}>
                {choice}
              </Act>
            ))}
            <button type="button" onClick={close}>
              {stays ? 'Close' : 'Cancel'}
            </button>
          </div>
        </dialog>
      )}
    </>
  );
}

const HOUR_S = 3600;
const TIMES = { '1 hour': HOUR_S, '4 hours': 4 * HOUR_S, '1 day': 24 * HOUR_S, 'Until it is resumed': null };

interface Props {
  readonly name: string;
  readonly what: string;
  readonly isPaused: boolean;
  /** @param time for how long; without `seconds` until it is resumed */
  readonly pause: (time: { seconds?: number }) => Promise<{ readonly until: number | null }>;
  readonly resume: () => Promise<unknown>;
  readonly changed: () => void;
}

/** Pausing a route or a job: for how long is asked, and shown until it ends. */
export function Pause({ name, what, isPaused, pause, resume, changed }: Props) {
  const isPressed = useRef(false);
  const end = async (): Promise<string> => {
    await resume();
    isPressed.current = true;
    changed();
    return `${name} goes on.`;
  };
  const begin = (seconds: number | null) => async (): Promise<string> => {
    const { until } = await pause(seconds === null ? {} : { seconds });
    isPressed.current = true;
    changed();
    return until === null ? `${name} is paused.` : `${name} is paused until ${instant(until)}.`;
  };
  // The button that was pressed has given way to the other one.
  const place = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (isPressed.current) place.current?.querySelector('button')?.focus();
    isPressed.current = false;
  }, [isPaused]);
  const choices = Object.entries(TIMES).map(([text, seconds]) => [text, begin(seconds)]);
  return (
    <span ref={place}>
      <Operator>
        {isPaused ? (
          <Act act={end} label={`Resume ${name}`}>
            Resume
          </Act>
        ) : (
          <Ask text="Pause" label={`Pause ${name}`} title={`Pause ${name}`} choices={Object.fromEntries(choices)}>
            <p>{what}</p>
          </Ask>
        )}
      </Operator>
    </span>
  );
}
