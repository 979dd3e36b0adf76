/** Errors for the user of a command: a failure (exit 1) or wrong usage (exit 2). */
import { suggest } from '../../compiler/text/suggest.ts';

/** A failure: one line says what is wrong, the hints say what to do next. Exit code 1. */
export class CliError extends Error {
  override readonly name: string = 'CliError';
  readonly exitCode: number = 1;
  readonly hints: readonly string[];

  constructor(message: string, ...hints: string[]) {
    super(message);
    this.hints = hints;
  }
}

/** Converts an error of the runtime, whose first line says what is wrong and whose other lines say what to do. */
export function refusalOf({ message }: Error): CliError {
  const [first = '', ...others] = message.split('\n');
  return new CliError(first, ...others);
}

/** Wrong usage: unknown option, missing or malformed argument. Exit code 2. */
export class UsageError extends CliError {
  override readonly name = 'UsageError';
  override readonly exitCode = 2;
}

interface NameQuestion<T> {
  /** `job`, for messages. */
  readonly kind: string;
  readonly name: string;
  /** Every item by name and by id; an item may have several names. */
  readonly known: Iterable<readonly [name: string, value: T]>;
  /** The command that lists them. */
  readonly listedBy: string;
  /** A further hint for the message about an unknown name. */
  readonly notes?: readonly string[];
}

/** @throws CliError with the candidates if several match, or the closest name if none does */
export function findName<T>({ kind, name, known, listedBy, notes = [] }: NameQuestion<T>): T {
  const entries = [...known];
  const exact = entries.find(([each]) => each === name);
  if (exact !== undefined) return exact[1];
  const begin = name === '' ? [] : entries.filter(([each]) => each.startsWith(name));
  const [found, ...others] = new Map(begin.map(([each, value]) => [value, each])).entries();
  if (found !== undefined && others.length === 0) return found[0];
  if (found !== undefined) throw ambiguousName(kind, name, [found[1], ...others.map(([, each]) => each)], listedBy);
  const [close] = suggest(
    name,
    entries.map(([each]) => each),
  );
  const hint = close === undefined ? `to list all: ${listedBy}` : `did you mean ${close}?`;
  throw new CliError(`there is no ${kind} "${name}"`, hint, ...notes);
}

/** The canonical name of a delivery target. @param names canonical names by every name @throws CliError */
export const findTarget = (names: Readonly<Record<string, string>>, name: string): string =>
  findName({ kind: 'delivery target', name, known: Object.entries(names), listedBy: 'hookwright docs targets' });

/** The most names that a message lists. */
const MOST = 8;

/** @param candidates known matches; there may be more */
export function ambiguousName(kind: string, name: string, candidates: readonly string[], listedBy: string): CliError {
  const message = `several ${plural(kind)} begin with "${name}"`;
  if (candidates.length === 0) return new CliError(message, `type more characters of it; to list all: ${listedBy}`);
  const more = candidates.length > MOST ? `, and ${candidates.length - MOST} more` : '';
  return new CliError(message, `choose one: ${[...candidates].sort().slice(0, MOST).join(', ')}${more}`);
}

const plural = (kind: string): string => (kind.endsWith('y') ? `${kind.slice(0, -1)}ies` : `${kind}s`);
