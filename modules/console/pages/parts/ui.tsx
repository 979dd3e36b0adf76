/** The parts that all views are made of. Whatever comes from the gateway is text: nothing here writes HTML. */
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Listed, Loaded } from './data.ts';
import { ago, instant } from './format.ts';
import { notify } from './notify.tsx';

type Children = { readonly children: ComponentChildren };

/** The heading of a view, which gets the focus when the view is shown. */
export function Head({
  title,
  crumb,
  children,
}: {
  title: string;
  crumb?: ComponentChildren;
  children?: ComponentChildren;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · hookwright`;
  }, [title]);
  useEffect(() => {
    if (document.activeElement === document.body) heading.current?.focus();
  }, []);
  return (
    <div class="head">
      {crumb !== undefined && <span class="crumb small">{crumb}</span>}
      <h1 tabIndex={-1} ref={heading}>
        {title}
      </h1>
      <div class="bar">{children}</div>
    </div>
  );
}

export const Card = ({ title, children }: { title?: string } & Children) => (
  <section class="card">
    {title !== undefined && <h2>{title}</h2>}
    {children}
  </section>
);

export type Kind = 'good' | 'bad' | 'warn' | 'calm';

export const Badge = ({ kind = 'calm', children }: { kind?: Kind } & Children) => (
  <span class={`badge ${kind}`}>{children}</span>
);

export const Note = ({ kind = 'calm', children }: { kind?: Kind } & Children) => (
  <p class={`note ${kind}`}>{children}</p>
);

export const Ago = ({ at }: { at: number }) => (
  <time dateTime={new Date(at).toISOString()} title={instant(at)}>
    {ago(at)}
  </time>
);

/** What is loaded; before that, or without it, why it is not there. */
export function Show<T>({ of, children }: { of: Loaded<T>; children: (data: T) => ComponentChildren }) {
  const { data, error } = of;
  return (
    <>
      {error !== null && <Note kind="bad">{error}</Note>}
      {data !== null ? children(data) : error === null && <p class="dim">Loading…</p>}
    </>
  );
}

export function Rows<T>({
  of,
  empty,
  more,
  children,
}: {
  of: readonly T[];
  empty: string;
  more?: (() => void) | null;
  children: (item: T) => ComponentChildren;
}) {
  if (of.length === 0) return <p class="dim">{empty}</p>;
  return (
    <>
      <ul class="list">{of.map(children)}</ul>
      <More load={more ?? null} />
    </>
  );
}

/** A list whose entries are cards. */
export const Cards = <T,>({
  of,
  empty,
  children,
}: {
  of: Listed<T>;
  empty: string;
  children: (item: T) => ComponentChildren;
}) => (
  <Show of={of}>
    {(items) => (
      <>
        {items.length === 0 && <p class="dim">{empty}</p>}
        {items.map(children)}
        <More load={of.more} />
      </>
    )}
  </Show>
);

/** @param load null: there is no further page */
const More = ({ load }: { load: (() => void) | null }) =>
  load !== null && (
    <p>
      <button type="button" onClick={load}>
        Show more
      </button>
    </p>
  );

/** A button that does something at the gateway, and says how that went. @param act resolves with what to say */
export function Act({
  act,
  primary = false,
  label,
  children,
}: { act: () => Promise<string>; primary?: boolean; label?: string } & Children) {
  const [isBusy, setBusy] = useState(false);
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
    <button type="button" class={primary ? 'primary' : ''} aria-disabled={isBusy} aria-label={label} onClick={run}>
      {children}
    </button>
  );
}

/** @param text what is copied @param note said of it */
export const Copy = ({
  text,
  note = '',
  children,
}: { text: () => string | Promise<string>; note?: string } & Children) => (
  <Act
    act={async () => {
      await copy(await text());
      return `Copied. ${note}`.trim();
    }}
  >
    {children}
  </Act>
);

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

/** A button that opens a dialog. @param label for those who do not see what it stands beside */
export function Ask({
  text,
  label,
  title,
  children,
}: {
  text: string;
  label?: string;
  title: string;
  children: (close: () => void) => ComponentChildren;
}) {
  const [isOpen, setOpen] = useState(false);
  const close = (): void => setOpen(false);
  return (
    <>
      <button type="button" aria-label={label} onClick={() => setOpen(true)}>
        {text}
      </button>
      {isOpen && (
        <Dialog title={title} close={close}>
          {children(close)}
        </Dialog>
      )}
    </>
  );
}

/** The buttons of a dialog, with the one that changes nothing. */
export const Choice = ({ close, children }: { close: () => void } & Children) => (
  <div class="bar">
    {children}
    <button type="button" onClick={close}>
      Cancel
    </button>
  </div>
);

/** Over the page, with the focus until it is closed. */
function Dialog({ title, close, children }: { title: string; close: () => void } & Children) {
  const dialog = useRef<HTMLDialogElement>(null);
  // Closed before it goes: that gives the focus back.
  useLayoutEffect(() => {
    const { current } = dialog;
    current?.showModal();
    return () => current?.close();
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby="dialog-title" onClose={close}>
      <h2 id="dialog-title">{title}</h2>
      {children}
    </dialog>
  );
}

export function Facts({ of }: { of: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  const given = of.filter(([, value]) => value !== null && value !== undefined && value !== '');
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

/** A choice that is kept in the address. */
export const Select = ({
  label,
  value,
  options,
  change,
}: {
  label: string;
  value: string;
  options: readonly (readonly [value: string, text: string])[];
  change: (value: string) => void;
}) => (
  <label>
    {label}
    <select value={value} onChange={({ currentTarget }) => change(currentTarget.value)}>
      {options.map(([each, text]) => (
        <option key={each} value={each}>
          {text}
        </option>
      ))}
    </select>
  </label>
);

export function TextField({ label, value, change }: { label: string; value: string; change: (value: string) => void }) {
  return (
    <label>
      {label}
      <input type="text" value={value} onChange={({ currentTarget }) => change(currentTarget.value.trim())} />
    </label>
  );
}

/** A text of any length, which scrolls in its place: also by keyboard, for which it takes the focus. */
export const Block = ({ label, children }: { label: string } & Children) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
  <section class="block" aria-label={label} tabIndex={0}>
    <pre>{children}</pre>
  </section>
);

/** Said where more comes than a list can show. */
export const Sampled = ({ of }: { of: { readonly isSampled: boolean } }) =>
  of.isSampled ? <Note>More comes than can be shown: this is a sample, the newest of every few seconds.</Note> : null;
