/** Components that all views share. All data of the gateway is rendered as text, never as HTML. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { Loaded } from './data.ts';
import { ago, instant } from './format.ts';
import { to } from './router.ts';

type Children = { readonly children?: ComponentChildren };

/** The heading of a view, which takes the focus when the view opens. @param of the parent view */
export function Head({ title, of, children }: { title: string; of?: string } & Children) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · hookwright`;
  }, [title]);
  useEffect(() => {
    if (document.activeElement === document.body) heading.current?.focus();
  }, []);
  return (
    <div class="head">
      {of !== undefined && (
        <a class="crumb small" href={to([of.toLowerCase()])}>
          {of}
        </a>
      )}
      <h1 tabIndex={-1} ref={heading}>
        {title}
      </h1>
      <div class="bar">{children}</div>
    </div>
  );
}

/** @param aside beside the heading */
export const Card = ({
  title,
  aside,
  children,
}: { title?: ComponentChildren; aside?: ComponentChildren } & Children) => (
  <section class="card">
    {title !== undefined && (
      <div class="head">
        <h2>{title}</h2>
        {aside}
      </div>
    )}
    {children}
  </section>
);

export type Kind = 'good' | 'bad' | 'warn' | 'calm';

export const Badge = ({ kind = 'calm', children }: { kind?: Kind } & Children) => (
  <span class={`badge ${kind}`}>{children}</span>
);

const STATES: readonly (readonly [Kind, words: string])[] = [
  ['good', 'done serving active accepted coalesced delivered ok approved'],
  [
    'warn',
    'running delivering disabled shadowed unreachable paused draining waiting retry ambiguous interrupted rejected',
  ],
  ['bad', 'dead quarantined lost failed permanent'],
  ['calm', 'ignored duplicate challenge'],
];
const kindOf = (state: string, other: Kind): Kind =>
  STATES.find(([, words]) => words.split(' ').includes(state))?.[0] ?? other;

export const State = ({ of }: { of: string }) => <Badge kind={kindOf(of, 'calm')}>{of}</Badge>;

/** An outcome with its reason: `ignored: filter`. Outcomes that are not in STATES are errors. */
export function OutcomeBadge({ outcome, reason }: { outcome: string; reason: string | null }) {
  const text = reason === null || reason === outcome ? outcome : `${outcome}: ${reason}`;
  return <Badge kind={kindOf(outcome, 'bad')}>{text.replaceAll('_', ' ')}</Badge>;
}

export const Note = ({ kind = 'calm', children }: { kind?: Kind } & Children) => (
  <p class={`note ${kind}`}>{children}</p>
);

export const Ago = ({ at }: { at: number }) => (
  <time dateTime={new Date(at).toISOString()} title={instant(at, 'second')}>
    {ago(at)}
  </time>
);

/** Shows loaded data, or the loading state, or the error. */
export const Show = <T,>({ of, children }: { of: Loaded<T>; children: (data: T) => ComponentChildren }) => (
  <>
    {of.error !== null && <Note kind="bad">{of.error}</Note>}
    {of.data !== null ? children(of.data) : of.error === null && <p class="dim">Loading…</p>}
  </>
);

interface RowProps extends Children {
  /** Address of the link. */
  readonly href?: string;
  readonly name?: string | null;
  /** Text beside the name. */
  readonly about?: ComponentChildren;
  readonly end?: ComponentChildren;
}

/** One line of a list. */
export function Row({ href, name, about, end, children }: RowProps) {
  const parts = (
    <>
      <span class="main">
        {name && <b>{name}</b>} {about}
      </span>
      {children}
      {end && <span class="dim small end">{end}</span>}
    </>
  );
  return (
    <li>
      {href === undefined ? (
        <div class="row">{parts}</div>
      ) : (
        <a class="row" href={href}>
          {parts}
        </a>
      )}
    </li>
  );
}

interface EntriesProps {
  readonly empty: string;
  /** Loads the next page; null: there is none. */
  readonly more?: (() => void) | null;
  /** The entries are cards instead of lines. */
  readonly cards?: boolean;
  readonly children: readonly ComponentChildren[];
}

const NOT_YET = 'No matches in the entries searched so far.';

export const Entries = ({ empty, more = null, cards = false, children }: EntriesProps) => (
  <>
    {children.length > 0 ? (
      cards ? (
        children
      ) : (
        <ul class="list">{children}</ul>
      )
    ) : (
      <p class="dim">{more ? NOT_YET : empty}</p>
    )}
    {more !== null && (
      <button type="button" onClick={more}>
        Show more
      </button>
    )}
  </>
);

/** A list of names and values; empty values are left out. */
export function Facts({ of }: { of: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  const present = of.filter(([, value]) => value !== null && value !== undefined && value !== false && value !== '');
  return (
    <dl class="facts">
      {present.map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </>
      ))}
    </dl>
  );
}

interface FormProps extends Children {
  /** Receives trimmed values by field name. @throws Error with the reason to show */
  readonly send: (values: Readonly<Record<string, string>>) => Promise<void>;
}

/** A form that shows why the gateway rejected its input. */
export function Form({ send, children }: FormProps) {
  const [error, setError] = useState<string | null>(null);
  const submit = (event: Event & { readonly currentTarget: HTMLFormElement }): void => {
    event.preventDefault();
    setError(null);
    const values = [...new FormData(event.currentTarget)].map(([name, value]) => [name, String(value).trim()]);
    send(Object.fromEntries(values)).catch(({ message }: Error) => setError(message));
  };
  return (
    <form method="post" onSubmit={submit}>
      {children}
      <div role="alert">{error !== null && <Note kind="bad">{error}</Note>}</div>
    </form>
  );
}

interface FieldProps {
  readonly label: string;
  readonly name?: string;
  readonly value?: string;
  readonly type?: 'text' | 'password' | 'time' | 'textarea';
  /** Values with their texts: the only accepted ones if `strict`, else suggestions. */
  readonly options?: readonly (readonly [value: string, text: string])[];
  readonly strict?: boolean;
  readonly required?: boolean;
  readonly placeholder?: string;
  readonly help?: string;
  /** Receives the trimmed value after an edit. */
  readonly change?: (value: string) => void;
}

/** A labelled field. Unfinished input survives a reload of the view. */
export function Field({
  label,
  value = '',
  type = 'text',
  options = [],
  strict,
  help = '',
  change,
  ...rest
}: FieldProps) {
  const id = useId();
  const [typed, setTyped] = useState(value);
  // Browsers also report a change when a view with unfinished input is removed.
  const isShown = useRef(true);
  const leave = (): void => {
    isShown.current = false;
  };
  useEffect(() => leave, []);
  useEffect(() => setTyped(value), [value]);
  const Control = (strict ? 'select' : type === 'textarea' ? type : 'input') as 'input';
  const choices = options.map(([each, text]) => (
    <option key={each} value={each}>
      {text}
    </option>
  ));
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <Control
        {...rest}
        id={id}
        value={typed}
        spellcheck={false}
        {...(Control === 'input' ? { type } : {})}
        {...(choices.length > 0 ? { list: `${id}-list` } : {})}
        {...(help === '' ? {} : { 'aria-describedby': `${id}-help` })}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        onChange={({ currentTarget }) => isShown.current && change?.(currentTarget.value.trim())}
      >
        {strict ? choices : undefined}
      </Control>
      {!strict && choices.length > 0 && <datalist id={`${id}-list`}>{choices}</datalist>}
      {help !== '' && (
        <p id={`${id}-help`} class="dim small">
          {help}
        </p>
      )}
    </div>
  );
}

/** A scrollable text of any length; it can take the focus, so that it scrolls by keyboard. */
export const Block = ({ label, title = false, children }: { label: string; title?: boolean } & Children) => (
  <>
    {title && <h3>{label}</h3>}
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard */}
    <section class="block" aria-label={label} tabIndex={0}>
      <pre>{children}</pre>
    </section>
  </>
);
