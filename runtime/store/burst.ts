/**
 * Bursts that are kept whole (`coalesce.keep: all`). Each event of a group stays stored as it was accepted, with its line of the
 * list; the column `burst` of its dispatch is the number of the group's first event. The list is put into the prompt of
 * the latest one when that is read from the store, so that accepting an event costs the same however many there were before.
 */
import type { Dispatch } from '../../schemas/generated/types.ts';
import { decodeOr, isDispatch } from './decode.ts';

/** Most text in a list, in UTF-16 units, besides its newest event. */
const MOST_TEXT = 200_000;

/** How many of the events before it in its burst are needed to complete the dispatch. */
export const earlierNeeded = ({ burst }: Dispatch): number => (burst == null ? 0 : burst.max_events - 1);

/**
 * The dispatch with the list of its burst in its prompt.
 * @param earlier the stored bodies of the events before it, newest first; those that are damaged or removed are counted only
 */
export function fillEvents(dispatch: Dispatch, earlier: readonly string[]): Dispatch {
  const { burst, superseded, prompt } = dispatch;
  if (burst == null) return dispatch;
  let left = MOST_TEXT;
  const before: string[] = [];
  for (const body of earlier.slice(0, burst.max_events - 1)) {
    const line = lineFor(burst, decodeOr<Dispatch | null>(body, isDispatch, null)?.burst);
    if (line === null) continue;
    left -= line.length;
    if (left < 0) break;
    before.unshift(line);
  }
  const list = [...countLine(superseded - before.length), ...before, burst.line].join('\n');
  const ends = [...burst.at, prompt.length];
  const parts = ends.map((end, index) => prompt.slice(ends[index - 1] ?? 0, end));
  return { ...dispatch, prompt: parts.join(list), burst: null };
}

type Part = NonNullable<Dispatch['burst']>;

/** The line of another event, with the markers of this one: the note at the head of the prompt names their id. */
function lineFor({ marker }: Part, other: Dispatch['burst'] | undefined): string | null {
  if (other == null) return null;
  return marker === undefined || other.marker === undefined ? other.line : other.line.replaceAll(other.marker, marker);
}

function countLine(count: number): readonly string[] {
  if (count <= 0) return [];
  return [`[${count === 1 ? '1 earlier event is' : `${count} earlier events are`} not listed.]`];
}
