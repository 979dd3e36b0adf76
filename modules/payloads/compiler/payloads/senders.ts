/** Looks up senders of the catalog and the config by scheme and by event. */

import { expandSource } from '../../../../compiler/lower/source-variants.ts';
import { commonName } from '../../../../compiler/text/common-name.ts';
import type { SourceFile } from '../../../../schemas/generated/types.ts';
import type { FormSet } from '../shapes/form-set.ts';
import { createFormSet } from '../shapes/form-set.ts';
import type { Shape } from '../shapes/shape.ts';

/** Returns the payload shape of a source by its canonical name, or null if it is unknown. */
export type FindShape = (source: string) => Shape | null;

export interface Sender {
  /** The usual name. */
  readonly name: string;
  /** Canonical names of its schemes. A sender may have several ways to sign. */
  readonly schemes: ReadonlySet<string>;
  /** Documented events; empty if unknown. */
  readonly events: readonly string[];
  /** Loads the shape on the first call. Returns null if there is none. */
  forms(): FormSet | null;
}

export interface Senders {
  byScheme(scheme: string): Sender | null;
  /** All senders that document an event for which `passes` is true. */
  sending(passes: (event: string) => boolean): readonly Sender[];
}

/** @param sources by canonical name */
export function createSenders(
  sources: ReadonlyMap<string, { readonly value: SourceFile }>,
  findShape: FindShape,
): Senders {
  const senders = [...sources].map(([name, { value }]) => createSender(name, value, findShape));
  const byScheme = new Map(senders.flatMap((sender) => [...sender.schemes].map((scheme) => [scheme, sender] as const)));
  return {
    byScheme: (scheme) => byScheme.get(scheme) ?? null,
    sending: (passes) => senders.filter(({ events }) => events.some(passes)),
  };
}

function createSender(canonical: string, file: SourceFile, findShape: FindShape): Sender {
  const name = commonName(canonical, file);
  let forms: FormSet | null | undefined;
  return {
    name,
    schemes: new Set(expandSource(canonical, file).map((entry) => entry.name)),
    events: file.events ?? [],
    forms() {
      if (forms === undefined) {
        const shape = findShape(canonical);
        forms = shape === null ? null : createFormSet({ ...shape, source: name });
      }
      return forms;
    },
  };
}
