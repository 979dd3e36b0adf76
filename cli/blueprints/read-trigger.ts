/** Reads what is on the command line behind `blueprint fill|create|…`: a key and values, a chat command, or a link. */
import { parseCommand } from '../../compiler/blueprints/command.ts';
import { parseLink } from '../../compiler/blueprints/link.ts';
import type { ParsedTrigger, Trigger } from '../../compiler/blueprints/trigger.ts';
import { createTrigger } from '../../compiler/blueprints/trigger.ts';
import { CliError, UsageError } from '../base/errors.ts';

/** The shell has already taken the quotes off: everything behind the first `=` is the value. */
function readAssignments(key: string, words: readonly string[]): ParsedTrigger {
  const pairs: (readonly [string, string])[] = [];
  for (const word of words) {
    const equals = word.indexOf('=');
    if (equals === -1) throw new UsageError(`"${word}" is not name=value`);
    pairs.push([word.slice(0, equals), word.slice(equals + 1)]);
  }
  return createTrigger(key, pairs);
}

function parseWords(first: string, rest: readonly string[], appScheme: string): ParsedTrigger {
  if (first.includes('://')) {
    if (rest.length > 0)
      throw new UsageError('a link takes no further values', 'quote it, so that `&` stays part of it');
    return parseLink(first, appScheme);
  }
  if (!first.trimStart().startsWith('/')) return readAssignments(first, rest);
  // Unquoted, the shell has made words of the command; quoted, it is one.
  const [key, ...values] = rest;
  return key === undefined ? parseCommand(first) : readAssignments(key, values);
}

/** @throws CliError saying what is wrong with a command or link. */
export function readTrigger(words: readonly string[], appScheme: string): Trigger {
  const [first = '', ...rest] = words;
  const parsed = parseWords(first, rest, appScheme);
  if (!parsed.ok) throw new CliError(parsed.message);
  return parsed.trigger;
}
