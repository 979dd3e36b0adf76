/** Components that all views share. All data of the gateway is rendered as text, never as HTML. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { Loaded } from './data.ts';
import { ago, instant, shortInstant } from './format.ts';
import { setTitle } from './gateway.tsx';
import type { IconName, Kind } from './icons.tsx';
import { Icon } from './icons.tsx';
import { to, webAddress } from './router.ts';

type Children = { readonly children?: ComponentChildren };

interface HeadProps extends Children {
  readonly title: string;
  readonly of?: string;
  /** Beside the title. */
  readonly about?: ComponentChildren;
}

/** The heading of a view, which takes the focus when the view opens. @param of the parent view */
export function Head({ title, of, about = '', children }: HeadProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => setTitle(title), [title]);
  useEffect(() => {
    if (document.activeElement === document.body) heading.current?.focus();
  }, []);
  return (
    <div class="head">
      {of !== undefined && (
        <a class="crumb" href={to([of.toLowerCase()])}>
          ‹ {of}
        </a>
      )}
      <h1 tabIndex={-1} ref={heading}>
        {title}
      </h1>
      <span class="dim small rest">{about}</span>
      <div class="bar">{children}</div>
    </div>
  );
}

interface CardProps extends Children {
  readonly title?: ComponentChildren;
  /** Beside the heading. */
  readonly aside?: ComponentChildren;
  /** For `Jump`. */
  readonly id?: string;
}

export const Card = ({ title, aside, id, children }: CardProps) => (
  <section class="card" id={id} tabIndex={id === undefined ? undefined : -1}>
    {title !== undefined && (
      <div class="head">
        <h2>{title}</h2>
        {aside}
      </div>
    )}
    {children}
  </section>
);

/** Moves the focus to a card of this view. */
export function Jump({ to: id, children }: { to: string } & Children) {
  const jump = (): void => {
    const card = document.getElementById(id);
    card?.scrollIntoView();
    card?.focus();
  };
  return (
    <button type="button" class="link" onClick={jump}>
      {children}
    </button>
  );
}

/** What words of columns and states mean, for the pointer. */
const HELP: Readonly<Record<string, string>> = {
  dead: 'Not delivered, and not tried again unless you replay it.',
  session: 'Events with the same session key: their runs follow one another and share a conversation.',
};

type BadgeProps = { kind?: Kind; icon?: IconName; title?: string | undefined } & Children;

export const Badge = ({ kind = 'calm', icon, title, children }: BadgeProps) => (
  <span class={`badge ${kind}`} title={title}>
    {icon !== undefined && <Icon of={icon} />}
    {children}
  </span>
);

/** Each state and outcome has an icon beside its colour. Outcomes that are not listed are errors of senders. */
const STATES: readonly (readonly [Kind, IconName, words: string])[] = [
  ['good', 'check', 'done serving active accepted coalesced delivered ok approved'],
  ['warn', 'loader', 'running delivering queued draining'],
  ['warn', 'clock', 'waiting retry ambiguous'],
  ['warn', 'pause', 'paused'],
  ['bad', 'x', 'dead quarantined lost failed permanent internal_error delivery_failed overloaded shutting_down'],
  ['calm', 'hourglass', 'pending'],
  ['calm', 'slash', 'ignored skipped'],
  ['calm', 'twice', 'duplicate'],
  ['calm', 'shield', 'challenge'],
];

export function lookOf(state: string): readonly [Kind, IconName] {
  const [kind, icon] = STATES.find(([, , words]) => words.split(' ').includes(state)) ?? ['warn', 'alert'];
  return [kind, icon];
}

/** An outcome with its reason: `ignored: filter`. */
export function State({ of, reason = null }: { of: string; reason?: string | null }) {
  const [kind, icon] = lookOf(of);
  return (
    <Badge kind={kind} icon={icon} title={HELP[of]}>
      {(reason === null || reason === of ? of : `${of}: ${reason}`).replaceAll('_', ' ')}
    </Badge>
  );
}

export const Note = ({ kind = 'calm', children }: { kind?: Kind } & Children) => (
  <p class={`note ${kind}`}>{children}</p>
);

export const Ago = ({ at }: { at: number }) => (
  <time dateTime={new Date(at).toISOString()} title={instant(at, 'second')}>
    {ago(at)}
  </time>
);

/** An instant in a list; a small screen shows only its age. */
export const When = ({ at }: { at: number }) => (
  <span class="when">
    <span class="rest">{shortInstant(at)}</span> <Ago at={at} />
  </span>
);

/** Shows loaded data, or the loading state, or the error. */
export const Show = <T,>({ of, children }: { of: Loaded<T>; children: (data: T) => ComponentChildren }) => (
  <>
    {of.error !== null && <Note kind="bad">{of.error}</Note>}
    {of.data !== null ? children(of.data) : of.error === null && <p class="dim">Loading…</p>}
  </>
);

/**
 * The heading may be empty, as for actions. `end`: aligned right, for numbers and times. `clip`: one line, cut at the end. `plain`:
 * without its heading on a small screen.
 */
type Look = 'end' | 'clip' | 'plain' | 'end plain' | 'clip plain';
export type Column<T> = readonly [title: string, cell: (item: T) => ComponentChildren, look?: Look];

/** The link of a row, which covers the row. */
export const Whole = ({ path, children }: { path: readonly string[] } & Children) => (
  <a class="whole" href={to(path)}>
    {children}
  </a>
);

/** An event in a list: its type, and the id of its sender. */
export const Thing = ({ path, name, id }: { path: readonly string[]; name: string; id: string }) => (
  <>
    <Whole path={path}>{name}</Whole> <span class="dim mono">{id}</span>
  </>
);

export interface TableProps<T> {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly items: readonly T[];
  readonly keyOf: (item: T) => string | number;
  readonly empty: string;
  /** Loads the next page; null: there is none. */
  readonly more?: (() => void) | null;
}

const NOT_YET = 'No matches in the entries searched so far.';

const EMPTY: readonly unknown[] = ['', false, null, undefined];

/** On a small screen each row is a card. A column without any content is left out. */
export function Table<T>({ label, columns: all, items, keyOf, empty, more = null }: TableProps<T>) {
  const columns = all.filter(([, cell]) => items.some((item) => !EMPTY.includes(cell(item))));
  const body = useRef<HTMLTableSectionElement>(null);
  const pressedAt = useRef<number | null>(null);
  useEffect(() => {
    const { current: at } = pressedAt;
    if (at === null || (items.length <= at && more !== null)) return;
    pressedAt.current = null;
    // The button keeps the focus. If it was removed, the first new row takes it, or the last row if there is no new one.
    const row = body.current?.rows[Math.min(at, items.length - 1)];
    if (document.activeElement === document.body) (row?.querySelector('a') ?? row)?.focus();
  }, [items.length, more === null]);
  const load = (): void => {
    pressedAt.current = items.length;
    more?.();
  };
  const row = (item: T) => (
    <tr key={keyOf(item)} tabIndex={-1}>
      {columns.map(([title, cell, look = ''], at) => (
        <td key={title} class={look} data-label={at > 1 && title !== '' && !look.includes('plain') ? title : undefined}>
          {cell(item)}
        </td>
      ))}
    </tr>
  );
  return (
    <div class="card table">
      {items.length === 0 ? (
        <p class="dim">{more === null ? empty : NOT_YET}</p>
      ) : (
        <table aria-label={label}>
          <thead>
            <tr>
              {columns.map(([title, , look = '']) => (
                <th key={title} scope="col" class={look} title={HELP[title.toLowerCase()]}>
                  {title || <span class="hidden">Actions</span>}
                </th>
              ))}
            </tr>
          </thead>
          <tbody ref={body}>{items.map(row)}</tbody>
        </table>
      )}
      {more !== null && (
        <button type="button" onClick={load}>
          Load more
        </button>
      )}
    </div>
  );
}

/** A link to another host, such as to a posted comment; only text if the address is not a web address. */
export function External({ url }: { url: string }) {
  const href = webAddress(url);
  if (href === null) return <Code of={url} />;
  return (
    <a href={href} title={url} target="_blank" rel="noopener noreferrer">
      {broken(url.replace(/^https?:\/\//, ''))} <Icon of="external" />
    </a>
  );
}

/** A text that breaks between its parts. */
const broken = (text: string) => text.split(/(?<=[/_])|(?=[?#&])/).map((part) => [part, <wbr />]);

/** An id, or an address. */
export const Code = ({ of }: { of: string }) => <span class="mono">{broken(of)}</span>;

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

/** Trimmed values by field name. */
export type Values = Readonly<Record<string, string>>;

export interface FormProps extends Children {
  /** @throws Error with the reason to show */
  readonly send: (values: Values) => Promise<void>;
  /** Receives the values after an edit. */
  readonly changed?: (values: Values) => void;
}

const valuesOf = (form: HTMLFormElement): Values =>
  Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value).trim()]));

/** A form that shows why the gateway rejected its input. */
export function Form({ send, changed, children }: FormProps) {
  const [error, setError] = useState<string | null>(null);
  const submit = (event: Event & { readonly currentTarget: HTMLFormElement }): void => {
    event.preventDefault();
    setError(null);
    send(valuesOf(event.currentTarget)).catch(({ message }: Error) => setError(message));
  };
  return (
    <form method="post" onSubmit={submit} onChange={({ currentTarget }) => changed?.(valuesOf(currentTarget))}>
      {children}
      <div role="alert">{error !== null && <Note kind="bad">{error}</Note>}</div>
    </form>
  );
}

export type Options = readonly (readonly [value: string, text: string])[];

export interface FieldProps {
  readonly label: string;
  readonly name?: string;
  readonly value?: string;
  readonly type?: 'text' | 'password' | 'time' | 'search' | 'datetime-local' | 'textarea';
  /** Values with their texts: the only accepted ones if `strict`, else suggestions. */
  readonly options?: Options;
  readonly strict?: boolean;
  readonly required?: boolean;
  readonly placeholder?: string;
  readonly help?: string;
  /** Receives the trimmed value after an edit. */
  readonly change?: (value: string) => void;
}

/** A labelled field. Unfinished input survives a reload of the view. */
export function Field({ label, value = '', type = 'text', options = [], strict, help, change, ...rest }: FieldProps) {
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
        {...(help ? { 'aria-describedby': `${id}-help` } : {})}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        onChange={({ currentTarget }) => isShown.current && change?.(currentTarget.value.trim())}
      >
        {strict ? choices : undefined}
      </Control>
      {!strict && choices.length > 0 && <datalist id={`${id}-list`}>{choices}</datalist>}
      {help && (
        <p id={`${id}-help`} class="dim small">
          {help}
        </p>
      )}
    </div>
  );
}

/** A scrollable text of any length; it can take the focus, so that it scrolls by keyboard. @param title shown above it */
export const Block = ({ title = '', label = title, children }: { label?: string; title?: string } & Children) => (
  <>
    {title !== '' && <h3>{title}</h3>}
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard */}
    <section class="block" aria-label={label} tabIndex={0}>
      <pre>{children}</pre>
    </section>
  </>
);
