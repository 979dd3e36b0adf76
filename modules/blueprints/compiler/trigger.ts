/**
 * Parses and prints triggers: a blueprint and values for its fields, as a chat command (`/blueprint <key> name=value`) or
 * an application link.
 */

import type { BlueprintField } from '../../../schemas/generated/types.ts';
import type { BlueprintValues } from './fill.ts';

/** A blueprint and values for its fields. */
export interface Trigger {
  readonly key: string;
  /** By field name, in the given order. */
  readonly values: BlueprintValues;
}

export type ParsedTrigger =
  | { readonly ok: true; readonly trigger: Trigger }
  /** States the problem and what is accepted. */
  | { readonly ok: false; readonly message: string };

const KEY = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const NAME = /^[a-z][a-z0-9_]*$/;

function refuse(message: string): ParsedTrigger {
  return { ok: false, message };
}

/** Creates a trigger from its parts. Malformed keys and names and duplicate names are errors. */
export function createTrigger(key: string, pairs: Iterable<readonly [string, string]>): ParsedTrigger {
  if (!KEY.test(key)) {
    return refuse(
      `\`${key}\` is not a blueprint key: keys are lower-case words joined by \`-\`, such as \`morning-brief\``,
    );
  }
  const values = new Map<string, string>();
  for (const [name, value] of pairs) {
    if (!NAME.test(name))
      return refuse(`\`${name}\` is not a field name: names consist of lower-case letters, digits and \`_\``);
    if (values.has(name)) return refuse(`\`${name}\` is given twice`);
    values.set(name, value);
  }
  return { ok: true, trigger: { key, values: Object.fromEntries(values) } };
}

/*
 * The chat command of a blueprint: `/blueprint <key> name=value name="some text"`, printed and read back.
 *
 * A bare value ends at white space. A quoted value ends at the closing quote; inside it, `\"` is a quote, `\\` is a backslash,
 * and everything else, including line breaks, is literal. Parsing a printed command returns the same values, for any text.
 */

/** Text that needs no quotes: times, words, names of platforms and chats. No character in it has a special meaning. */
const BARE = /^[\p{L}\p{N}_.,:;@#+/*%&=~^!?<>()[\]{}|$-]+$/u;

function printValue(value: string, quoted: boolean): string {
  return !quoted && BARE.test(value) ? value : `"${value.replace(/["\\]/g, '\\$&')}"`;
}

/** Always quotes values of `text` fields; quotes others only where necessary. */
export function printCommand({ key, values }: Trigger, fields: readonly BlueprintField[]): string {
  const texts = new Set(fields.filter((field) => field.type === 'text').map((field) => field.name));
  const pairs = Object.entries(values).map(([name, value]) => `${name}=${printValue(value, texts.has(name))}`);
  return ['/blueprint', key, ...pairs].join(' ');
}

/** Closing quote by opening quote. Chat programs replace straight quotes with typographic ones. */
const CLOSING: Readonly<Record<string, string>> = { '"': '"', '“': '”', '„': '“' };

interface Value {
  readonly value: string;
  /** Offset after the value. */
  readonly end: number;
}

function readQuoted(text: string, start: number, closing: string): Value | null {
  let value = '';
  for (let at = start; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === closing) return { value, end: at + 1 };
    const next = text.charAt(at + 1);
    if (char === '\\' && (next === '\\' || next === closing || next === '"')) {
      value += next;
      at += 1;
    } else {
      value += char;
    }
  }
  return null;
}

function readValue(text: string, start: number): Value | null {
  const closing = CLOSING[text.charAt(start)];
  if (closing !== undefined) return readQuoted(text, start + 1, closing);
  const length = text.slice(start).search(/\s/);
  const end = length === -1 ? text.length : start + length;
  return { value: text.slice(start, end), end };
}

const HEAD = /^\s*\/blueprint(?:@\S+)?\s+(\S+)\s*/;
const ASSIGNMENT = /([^\s="“„]+)=/y;

/** Parses a command, including the form of group chats, `/blueprint@bot key …`. */
export function parseCommand(text: string): ParsedTrigger {
  const head = HEAD.exec(text);
  if (head === null) return { ok: false, message: 'a command starts with `/blueprint <key>`' };
  const pairs: [string, string][] = [];
  let at = head[0].length;
  while (at < text.length) {
    ASSIGNMENT.lastIndex = at;
    const name = ASSIGNMENT.exec(text)?.[1];
    if (name === undefined) {
      const word = /^\S+/.exec(text.slice(at))?.[0] ?? '';
      return { ok: false, message: `\`${word}\` is not \`name=value\`; put quotes around text: \`name="some words"\`` };
    }
    const read = readValue(text, ASSIGNMENT.lastIndex);
    if (read === null) return { ok: false, message: `the quote of \`${name}\` is never closed` };
    if (read.end < text.length && !/\s/.test(text.charAt(read.end))) {
      return { ok: false, message: `white space is needed after the value of \`${name}\`` };
    }
    pairs.push([name, read.value]);
    at = read.end;
    while (at < text.length && /\s/.test(text.charAt(at))) at += 1;
  }
  return createTrigger(head[1] ?? '', pairs);
}

/** Prints a link. Values must be well-formed Unicode; URLs cannot represent anything else. */
export function printLink({ key, values }: Trigger, appScheme: string): string {
  return `${appScheme}://blueprint/${key}?${new URLSearchParams(Object.entries(values)).toString()}`;
}

const LINK = /^\s*([A-Za-z][A-Za-z0-9+.-]*):\/\/blueprint\/([^/?#\s]+)\/?(?:\?([^#]*))?(?:#.*)?$/s;

/** Parses a link. Ignores what systems add to links: upper case in the scheme, a slash after the key, a fragment. */
export function parseLink(text: string, appScheme: string): ParsedTrigger {
  const match = LINK.exec(text.trimEnd());
  if (match === null)
    return { ok: false, message: `a link has the form \`${appScheme}://blueprint/<key>?name=value\`` };
  const [, scheme = '', key = '', query = ''] = match;
  if (scheme.toLowerCase() !== appScheme) {
    return { ok: false, message: `the link's scheme is \`${scheme}\`, not \`${appScheme}\`` };
  }
  return createTrigger(key, new URLSearchParams(query));
}
