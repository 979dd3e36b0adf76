/**
 * Reads `catalog/writers/<source>.json`: for fields whose type does not tell it, what a person who reviewed the sender's
 * payloads decided about who writes them.
 */
import type { LeafClass } from './leaf-classes.ts';

/** One decision, for the fields that its paths name. */
export interface FieldReview {
  /** Dotted. `*` stands for characters of one part, `**` for any number of parts; elements of lists are `*`. */
  readonly paths: readonly string[];
  /** Events it holds for; absent: all. */
  readonly events?: readonly string[];
  readonly class: LeafClass;
  /** Who writes it, to stand behind "written by". */
  readonly by?: string;
  /** Fields that name the author of this text, or how close the author is to its owner. */
  readonly author?: readonly string[];
  /** Forms, as `event` or `event.action`, in which the user who caused the event wrote this text. */
  readonly sender?: readonly string[];
  readonly why: string;
}

/** The file as it is written. */
export interface ReviewFile {
  readonly source: string;
  /** Fields that name who caused the event. */
  readonly sender: readonly string[];
  /** Dotted path of the action, of a sender whose shape does not tell forms apart by it. */
  readonly action?: string;
  /** By field: values that only people have who may write to the owner's account anyway. */
  readonly trusted: Readonly<Record<string, readonly string[]>>;
  readonly fields: readonly FieldReview[];
}

export interface Review {
  readonly sender: readonly string[];
  /** Dotted path of the action; null: the shape says it, or there is none. */
  readonly action: string | null;
  /** Values of a field that show its author to be trusted; null: it is a name, of which a list says who is. */
  trustedValues(field: string): readonly string[] | null;
  /** The first decision about a field; null: none. */
  find(event: string, path: readonly string[]): FieldReview | null;
}

/** For a source that has not been reviewed: types alone decide. */
export const NO_REVIEW: Review = { sender: [], action: null, trustedValues: () => null, find: () => null };

/** @param text of a file of this program's own catalog */
export function readReview(text: string): Review {
  const file = JSON.parse(text) as ReviewFile;
  const decisions = file.fields.map((review) => ({ review, matches: compilePaths(review.paths) }));
  const trusted = Object.entries(file.trusted).map(([path, values]) => ({ matches: compilePaths([path]), values }));
  return {
    sender: file.sender,
    action: file.action ?? null,
    trustedValues: (field) => trusted.find(({ matches }) => matches.test(field))?.values ?? null,
    find(event, path) {
      const text = path.join('.');
      const applies = ({ events }: FieldReview): boolean => events === undefined || events.includes(event);
      return decisions.find(({ review, matches }) => applies(review) && matches.test(text))?.review ?? null;
    },
  };
}

/** The paths are this program's own, and short: a regular expression does not have to be linear here. */
function compilePaths(paths: readonly string[]): RegExp {
  const sources = paths.map((path) =>
    path
      .replace(/[^\w.*]/g, '\\$&')
      .replaceAll('.', '\\.')
      .replaceAll('**\\.', '(?:[^.]+\\.)#')
      .replaceAll('\\.**', '(?:\\.[^.]+)#')
      .replaceAll('**', '.#')
      .replaceAll('*', '[^.]*')
      .replaceAll('#', '*'),
  );
  return new RegExp(`^(?:${sources.join('|')})$`);
}
