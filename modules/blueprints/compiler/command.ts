/**
 * The chat command of a blueprint: `/blueprint <key> name=value name="some text"`, printed and read back.
 *
 * A bare value ends at white space. A quoted value ends at the closing quote; inside it, `\"` is a quote, `\\` is a backslash,
 * and everything else, including line breaks, is literal. Parsing a printed command returns the same values, for any text.
 */
import type { BlueprintField } from '../../../schemas/generated/types.ts';
import type { ParsedTrigger, Trigger } from './trigger.ts';
import { createTrigger } from './trigger.ts';

/** Text that needs no quotes: times, words, names of platforms and chats. No character in it has a special meaning. */
export const BARE = /^[\p{L}\p{N}_.,:;@#+/*%&=~^!?<>()[\]{}|$-]+$/u;

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
