/**
 * Reads `catalog/writers/<source>.json`: human decisions about who writes the fields of a sender's payloads, for fields
 * whose type does not say it.
 */
import type { LeafClass } from './leaf-classes.ts';

/** One decision, for all fields that match its paths. */
export interface FieldReview {
  /** Dotted paths. `*` matches characters within a part, `**` any number of parts; list elements are `*`. */
  readonly paths: readonly string[];
  /** Events that it applies to. Default: all. */
  readonly events?: readonly string[];
  readonly class: LeafClass;
  /** Who writes it; used after "written by". */
  readonly by?: string;
  /** Fields that name the text's author, or the author's relation to the repository's owner. */
  readonly author?: readonly string[];
  /** Forms (`event` or `event.action`) in which the user who caused the event wrote this text. */
  readonly sender?: readonly string[];
  readonly why: string;
}

export interface ReviewFile {
  readonly source: string;
  /** Fields that name who caused the event. */
  readonly sender: readonly string[];
  /** Dotted path of the action, if the sender's shape does not define it. */
  readonly action?: string;
  /** By field: values that only people with write access to the owner's account have. */
  readonly trusted: Readonly<Record<string, readonly string[]>>;
  readonly fields: readonly FieldReview[];
}

export interface Review {
  readonly sender: readonly string[];
  /** Dotted path of the action; null if the shape defines it, or if there is none. */
  readonly action: string | null;
  /** The values of a field that identify a trusted author; null if the field contains names, which filters have to list. */
  trustedValues(field: string): readonly string[] | null;
  /** Returns the first decision about a field, or null. */
  find(event: string, path: readonly string[]): FieldReview | null;
}

/** The review of a source that has not been reviewed: only types decide. */
export const NO_REVIEW: Review = { sender: [], action: null, trustedValues: () => null, find: () => null };

/** @param text content of a shipped file */
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

/** The paths are shipped and short, so the regular expression need not be linear. */
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
