/**
 * Parses untrusted XML into plain values, for sources with `body: xml`. Document types and custom entities are rejected, so
 * nothing is expanded or fetched. It runs in one pass, without recursion.
 */
import { MAX_DEPTH } from './parse-json.ts';

type ParsedXml = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly fault: XmlFault };

export type XmlFault = 'not_xml' | 'too_deep';

interface OpenElement {
  readonly name: string;
  readonly parts: (readonly [name: string, value: unknown])[];
  text: string;
}

/** Comments, processing instructions and the XML declaration are skipped. */
const SKIPPED = [
  ['<!--', '-->'],
  ['<?', '?>'],
] as const;
const NAME = '[A-Za-z_\\u0080-\\uffff][A-Za-z0-9_.:\\u0080-\\uffff-]*';
const END_TAG = new RegExp(`</(${NAME})\\s*>`, 'y');
const START_NAME = new RegExp(`<(${NAME})`, 'y');
const ATTRIBUTE = new RegExp(`\\s+(${NAME})\\s*=\\s*(?:"([^"<]*)"|'([^'<]*)')`, 'y');
const START_END = /\s*(\/?)>/y;
const ENTITY = /&([^;&\s]{0,10})(;?)/g;
const NAMED = new Map(Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }));

/**
 * Returns `{name: value}` for the root element. An element without attributes and child elements becomes its text. Any other
 * becomes an object of both, with its own text as `text`. Repeated names become a list. `yt:videoId` becomes `yt_videoId`,
 * because placeholders cannot contain a colon. Namespace declarations are omitted.
 */
export function parseXml(text: string): ParsedXml {
  try {
    return { ok: true, value: readDocument(text) };
  } catch (error) {
    if (error instanceof XmlError) return { ok: false, fault: error.fault };
    throw error;
  }
}

class XmlError extends Error {
  readonly fault: XmlFault;

  constructor(fault: XmlFault = 'not_xml') {
    super(fault);
    this.fault = fault;
  }
}

function readDocument(text: string): unknown {
  const cursor = { text, at: text.charCodeAt(0) === 0xfeff ? 1 : 0 };
  const document: OpenElement = { name: '', parts: [], text: '' };
  const open = [document];
  while (cursor.at < text.length) readNext(cursor, open);
  if (open.length !== 1 || document.parts.length !== 1 || document.text.trim() !== '') throw new XmlError();
  return Object.fromEntries(document.parts);
}

interface Cursor {
  readonly text: string;
  at: number;
}

function readNext(cursor: Cursor, open: OpenElement[]): void {
  const element = open.at(-1);
  if (element === undefined) throw new XmlError();
  const data = between(cursor, '<![CDATA[', ']]>');
  if (data !== null) element.text += data;
  else if (cursor.text[cursor.at] !== '<') element.text += resolveReferences(readText(cursor));
  else if (SKIPPED.every(([start, end]) => between(cursor, start, end) === null)) readTag(cursor, element, open);
}

function readText(cursor: Cursor): string {
  const start = cursor.at;
  const end = cursor.text.indexOf('<', start);
  cursor.at = end < 0 ? cursor.text.length : end;
  return cursor.text.slice(start, cursor.at);
}

/** If the input continues with `start`, returns the text up to `end` and moves past it; otherwise null. */
function between(cursor: Cursor, start: string, end: string): string | null {
  if (!cursor.text.startsWith(start, cursor.at)) return null;
  const from = cursor.at + start.length;
  const to = cursor.text.indexOf(end, from);
  if (to < 0) throw new XmlError();
  cursor.at = to + end.length;
  return cursor.text.slice(from, to);
}

function readTag(cursor: Cursor, element: OpenElement, open: OpenElement[]): void {
  const end = take(cursor, END_TAG);
  if (end === null) {
    readStartTag(cursor, open);
    return;
  }
  if (end[1] !== element.name) throw new XmlError();
  open.pop();
  close(element, open);
}

function readStartTag(cursor: Cursor, open: OpenElement[]): void {
  const name = take(cursor, START_NAME)?.[1];
  if (name === undefined) throw new XmlError();
  const element: OpenElement = { name, parts: [], text: '' };
  const names = new Set<string>();
  for (let found = take(cursor, ATTRIBUTE); found !== null; found = take(cursor, ATTRIBUTE)) {
    const [, attribute = '', double, single = ''] = found;
    if (names.has(attribute)) throw new XmlError();
    names.add(attribute);
    if (!/^xmlns(:|$)/.test(attribute)) element.parts.push([keyOf(attribute), resolveReferences(double ?? single)]);
  }
  const end = take(cursor, START_END);
  if (end === null) throw new XmlError();
  if (open.length > MAX_DEPTH) throw new XmlError('too_deep');
  if (end[1] === '/') close(element, open);
  else open.push(element);
}

/** Adds the value of a closed element to its parent. */
function close(element: OpenElement, open: OpenElement[]): void {
  open.at(-1)?.parts.push([keyOf(element.name), elementValue(element)]);
}

function elementValue({ parts, text }: OpenElement): unknown {
  if (parts.length === 0) return text;
  const own = text.trim();
  const values = new Map<string, unknown[]>();
  for (const [name, value] of own === '' ? parts : [...parts, ['text', own] as const]) {
    const list = values.get(name);
    if (list === undefined) values.set(name, [value]);
    else list.push(value);
  }
  return Object.fromEntries([...values].map(([name, list]) => [name, list.length === 1 ? list[0] : list]));
}

const keyOf = (name: string): string => name.replaceAll(':', '_');

function resolveReferences(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(ENTITY, (_whole, name: string, end: string) => {
    const character = end === '' ? undefined : (NAMED.get(name) ?? characterOf(name));
    if (character === undefined) throw new XmlError();
    return character;
  });
}

/** The character of a reference such as `#38` or `#x26`. */
function characterOf(name: string): string | undefined {
  const [, decimal, hex] = /^#(?:(\d{1,7})|x([0-9A-Fa-f]{1,6}))$/.exec(name) ?? [];
  const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
  const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return isCharacter ? String.fromCodePoint(code) : undefined;
}

function take(cursor: Cursor, pattern: RegExp): RegExpExecArray | null {
  pattern.lastIndex = cursor.at;
  const found = pattern.exec(cursor.text);
  if (found !== null) cursor.at = pattern.lastIndex;
  return found;
}
