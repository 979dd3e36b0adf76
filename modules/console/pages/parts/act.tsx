/** Buttons that change something at the gateway and report the result. Viewers do not see them. */
import type { ComponentChildren } from 'preact';
import { useContext, useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { instant } from './format.ts';
import { notify } from './notify.tsx';
import { Session } from './role.tsx';

type Children = { readonly children?: ComponentChildren };

/** Shows its children to operators only. */
export const Operator = ({ children }: Children) => (useContext(Session)?.role === 'operator' ? children : null);

/** The attributes of a button. Moves the focus to the heading of the view when the focused button is removed. */
function useButton({ primary = false, label }: Pick<ActProps, 'primary' | 'label'>) {
  const button = useRef<HTMLButtonElement>(null);
  const leave = (): void => {
    if (document.activeElement === button.current) document.querySelector('h1')?.focus();
  };
  useLayoutEffect(() => leave, []);
  return { ref: button, class: primary ? 'primary' : '', 'aria-label': label };
}

interface ActProps extends Children {
  /** Resolves with the message to show; empty: none. */
  readonly act: () => Promise<string>;
  readonly primary?: boolean;
  /** For screen readers: names what the button acts on. */
  readonly label?: string | undefined;
}

/** A button that calls the gateway and shows the result. */
export function Act({ act, children, ...look }: ActProps) {
  const [isBusy, setBusy] = useState(false);
  const button = useButton(look);
  const run = (): void => {
    if (isBusy) return;
    setBusy(true);
    act()
      .then(
        (message) => message !== '' && notify(message, 'good'),
        (error: Error) => notify(error.message, 'bad'),
      )
      .finally(() => setBusy(false));
  };
  return (
    // Not `disabled`, which would take the focus away.
    <button type="button" {...button} onClick={run} aria-disabled={isBusy}>
      {children}
    </button>
  );
}

interface UndoProps extends Pick<ActProps, 'act'> {
  /** Unix ms. */
  readonly until: number;
}

/** A button to undo an action, which counts the seconds down and disappears. Also used in messages, which have no role. */
export function Undo({ until, act }: UndoProps) {
  const secondsLeft = (): number => Math.ceil((until - Date.now()) / 1000);
  const [left, setLeft] = useState(secondsLeft());
  useEffect(() => {
    setLeft(secondsLeft());
    const timer = setInterval(() => setLeft(secondsLeft()), 200);
    return () => clearInterval(timer);
  }, [until]);
  if (left <= 0) return null;
  return (
    <Act act={act}>
      Undo <span aria-hidden="true">({left} s)</span>
    </Act>
  );
}

/** A link that looks like a button. */
export const Open = ({ href, children }: { href: string } & Children) => (
  <a class="button" href={href}>
    {children}
  </a>
);

interface CopyProps extends Pick<ActProps, 'label' | 'children'> {
  readonly text: () => string | Promise<string>;
  /** Added to the confirmation. */
  readonly note?: string;
}

export function Copy({ text, note = '', ...rest }: CopyProps) {
  const act = async (): Promise<string> => {
    await copy(await text());
    return `Copied. ${note}`.trim();
  };
  return <Act act={act} {...rest} />;
}

/** Browsers allow the clipboard API only over TLS and on localhost; elsewhere the selection is copied. */
async function copy(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  if (!isCopied) throw new Error('this browser does not allow the page to copy');
}

interface AskProps extends Children {
  readonly text: string;
  readonly primary?: boolean;
  readonly label?: string;
  readonly title: string;
  /** Actions by the text of their buttons. */
  readonly choices: Readonly<Record<string, () => Promise<string>>>;
  /** The dialog shows the result, and stays open. */
  readonly stays?: boolean;
  readonly opened?: () => void;
}

/** A button that opens a dialog with actions, for operators only. */
export const Ask = (props: AskProps) => <Operator>{<Dialog {...props} />}</Operator>;

function Dialog({ text, title, choices, stays = false, opened, children, ...look }: AskProps) {
  const [isOpen, setOpen] = useState(false);
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // Closing returns the focus to the button, so it happens before the button is removed, as when another person has answered.
  const close = (): void => dialog.current?.close();
  useLayoutEffect(() => close, []);
  const button = useButton(look);
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
  }, [isOpen]);
  const open = (): void => {
    opened?.();
    setOpen(true);
  };
  const then = (act: () => Promise<string>) => async (): Promise<string> => {
    const message = await act();
    if (!stays) close();
    return message;
  };
  const all = Object.entries(choices);
  return (
    <>
      <button type="button" {...button} onClick={open}>
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
const TIMES = { '1 hour': HOUR_S, '4 hours': 4 * HOUR_S, '1 day': 24 * HOUR_S, 'Until resumed': null };

interface Props {
  readonly name: string;
  /** The effect of the pause. */
  readonly what?: string;
  readonly isPaused?: boolean;
  /** Only for what is not paused. @param time for how long; without `seconds` until it is resumed */
  readonly pause?: (time: { seconds?: number }) => Promise<{ readonly until: number | null }>;
  readonly resume: () => Promise<unknown>;
  readonly changed: () => void;
}

/** Pauses a route or a job for a chosen time, or resumes it. */
export function Pause({ name, what, isPaused = true, pause, resume, changed }: Props) {
  const isPressed = useRef(false);
  const end = async (): Promise<string> => {
    await resume();
    isPressed.current = true;
    changed();
    return `${name} resumed.`;
  };
  const begin = (seconds: number | null) => async (): Promise<string> => {
    const { until = null } = (await pause?.(seconds === null ? {} : { seconds })) ?? {};
    isPressed.current = true;
    changed();
    return until === null ? `${name} paused.` : `${name} paused until ${instant(until)}.`;
  };
  // The other button replaces the one that was pressed, and takes the focus.
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
