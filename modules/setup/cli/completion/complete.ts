/** Completes a command line for a shell: what may stand where the cursor is, for bash, zsh and fish alike. */
import type { Command, NamedOption } from '../../../../cli/base/command.ts';
import type { CliContext } from '../../../../cli/base/context.ts';
import type { CommandEntry } from '../../../../cli/commands.ts';
import { findCommand } from '../../../../cli/commands.ts';
import type { NameRequest } from './names.ts';
import { namesFor } from './names.ts';

interface CompletionCandidate {
  readonly value: string;
  readonly description: string;
}

/** `files`: the shell completes paths by itself. */
type Completion =
  | { readonly kind: 'words'; readonly words: readonly CompletionCandidate[] }
  | { readonly kind: 'files' };

/** @param typed the words after the program's name; the last one is the one being typed, perhaps empty */
export async function complete(
  typed: readonly string[],
  commands: readonly CommandEntry[],
  context: CliContext,
): Promise<Completion> {
  const words = joinBound(typed);
  const partial = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const entry = findCommand(commands, before);
  if (entry === undefined) return matching(partial, nextWords(commands, before));
  return completeArgument(await entry.load(), before.slice(entry.path.split(' ').length), partial, context);
}

/** Shells that break words at `=` send `--port`, `=`, `86`. */
function joinBound(words: readonly string[]): string[] {
  const joined: string[] = [];
  for (const [at, word] of words.entries()) {
    const option = joined.at(-1);
    const bound =
      option?.startsWith('--') === true && (word === '=' || (words[at - 1] === '=' && option.endsWith('=')));
    if (bound) joined[joined.length - 1] = option + word;
    else joined.push(word);
  }
  return joined;
}

/** The words that may follow, with what they lead to. */
function nextWords(commands: readonly CommandEntry[], before: readonly string[]): CompletionCandidate[] {
  const found = new Map<string, string>();
  for (const { path, summary, rank } of commands) {
    const words = path.split(' ');
    const word = words[before.length];
    if (rank === null || word === undefined || !before.every((other, at) => words[at] === other)) continue;
    const leaf = words.length === before.length + 1;
    if (leaf || !found.has(word)) found.set(word, leaf ? summary : `${word} …`);
  }
  return [...found].map(([value, description]) => ({ value, description }));
}

async function completeArgument(
  { options, args }: Command<CliContext>,
  before: readonly string[],
  partial: string,
  context: CliContext,
): Promise<Completion> {
  const optionOf = (word: string): NamedOption | undefined => options.find(({ names }) => names.includes(word));
  const bound = /^(--[a-z-]+)=(.*)$/s.exec(partial);
  const asked = bound === null ? optionOf(before.at(-1) ?? '') : optionOf(bound[1] ?? '');
  const given = before.filter(
    (word, at) => !word.startsWith('-') && (optionOf(before[at - 1] ?? '')?.value ?? null) === null,
  );
  if (asked !== undefined && asked.value !== null) {
    const source = optionValue('--source', before);
    const request = { kind: asked.value, given: source === null ? given : [source], partial: bound?.[2] ?? partial };
    return completeValue(request, context, bound === null ? '' : `${bound[1]}=`);
  }
  if (partial.startsWith('-')) {
    const left = options.filter(({ names }) => !names.some((name) => before.includes(name)));
    return matching(
      partial,
      left.map(({ names, description }) => ({ value: names.at(-1) ?? '', description })),
    );
  }
  const last = args.at(-1);
  const kind = (args[given.length] ?? (last?.kind === 'rest' ? last : undefined))?.name;
  return kind === undefined ? matching(partial, []) : completeValue({ kind, given, partial }, context, '');
}

/** The value of an option among the words; null: it is not there. */
function optionValue(option: string, words: readonly string[]): string | null {
  const at = words.findIndex((word) => word === option || word.startsWith(`${option}=`));
  if (at < 0) return null;
  return words[at] === option ? (words[at + 1] ?? null) : (words[at]?.slice(option.length + 1) ?? null);
}

/** By the name of what is asked for: `a|b` are choices, paths are the shell's business, the rest are names in use. */
async function completeValue(request: NameRequest, context: CliContext, prefix: string): Promise<Completion> {
  const { kind, partial } = request;
  if (/\b(path|dir|file)\b/.test(kind)) return { kind: 'files' };
  const values = kind.includes('|') ? kind.split('|') : await namesFor(request, context);
  return matching(
    prefix + partial,
    values.map((value) => ({ value: prefix + value, description: '' })),
  );
}

function matching(partial: string, words: readonly CompletionCandidate[]): Completion {
  return { kind: 'words', words: words.filter(({ value }) => value.startsWith(partial)) };
}
