/** The parts that all views are made of. Whatever comes from the gateway is text: nothing here writes HTML. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { Loaded } from './data.ts';
import { ago, instant } from './format.ts';
import { to } from './router.ts';

type Children = { readonly children?: ComponentChildren };

/** The heading of a view, which gets the focus when the view is shown. @param of the view that it belongs to */
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

/** An outcome with its reason: `ignored: filter`. What is neither taken nor ignored went wrong. */
export function OutcomeBadge({ outcome, reason }: { outcome: string; reason: string | null }) {
  const text = reason === null || reason === outcome ? outcome : `${outcome}: ${reason}`;
  return <Badge kind={kindOf(outcome, 'bad')}>{text.replaceAll('_', ' ')}</Badge>;
}

export const Note = ({ kind = 'calm', children }: { kind?: Kind } & Children) => (
  <p class={`note ${kind}`}>{children}</p>
);

export const Ago = ({ at }: { at: number }) => (
  <time dateTime={new Date(at).toISOString()} title={instant(at)}>
    {ago(at)}
  </time>
);

/** What is loaded; before that, or without it, why it is not there. */
export const Show = <T,>({ of, children }: { of: Loaded<T>; children: (data: T) => ComponentChildren }) => (
  <>
    {of.error !== null && <Note kind="bad">{of.error}</Note>}
    {of.data !== null ? children(of.data) : of.error === null && <p class="dim">Loading…</p>}
  </>
);

interface RowProps extends Children {
  /** Where it leads to. */
  readonly href?: string;
  readonly name?: string | null;
  /** What stands beside the name. */
  readonly about?: ComponentChildren;
  readonly end?: ComponentChildren;
}

/** A line of a list. */
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
  /** They are no lines of a list. */
  readonly cards?: boolean;
  readonly children: readonly ComponentChildren[];
}

const NOT_YET = 'None of those that were searched so far.';

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

/** Without those that are not given. */
export function Facts({ of }: { of: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  const given = of.filter(([, value]) => value !== null && value !== undefined && value !== false && value !== '');
  return (
    <dl class="facts">
      {given.map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </>
      ))}
    </dl>
  );
}

interface FormProps extends Children {
  /** What was typed, by the names of fields, without spaces around it. @throws Error: what it is refused for */
  readonly send: (values: Readonly<Record<string, string>>) => Promise<void>;
}

/** Fields, and below them the buttons and why it was refused. */
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
  /** What it takes if `strict`, else what is suggested: values, with their texts. */
  readonly options?: readonly (readonly [value: string, text: string])[];
  readonly strict?: boolean;
  readonly required?: boolean;
  readonly placeholder?: string;
  readonly help?: string;
  /** Without spaces around it, when it has been typed. */
  readonly change?: (value: string) => void;
}

/** A field with its label. What is being typed stays when the view is loaded again. */
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
  // A browser reports a change also where a view goes away with what is half typed in it.
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

/** A text of any length, which scrolls in its place: also by keyboard, for which it takes the focus. */
export const Block = ({ label, title = false, children }: { label: string; title?: boolean } & Children) => (
  <>
    {title && <h3>{label}</h3>}
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
    <section class="block" aria-label={label} tabIndex={0}>
      <pre>{children}</pre>
    </section>
  </>
);
