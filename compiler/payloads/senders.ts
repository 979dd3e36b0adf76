/** The senders of the catalog and the config, and which of them an event name or a scheme belongs to. */
import type { SourceFile } from '../../schemas/generated/types.ts';
import { expandSource } from '../lower/source-variants.ts';
import type { FormSet } from '../shapes/form-set.ts';
import { createFormSet } from '../shapes/form-set.ts';
import type { Shape } from '../shapes/shape.ts';
import { commonName } from '../text/common-name.ts';

/** The shape of a source by the canonical name of its file; null: nothing is known of its payloads. */
export type FindShape = (source: string) => Shape | null;

export interface Sender {
  /** As people know it. */
  readonly name: string;
  /** Canonical names of its schemes: one sender may sign in several ways. */
  readonly schemes: ReadonlySet<string>;
  /** Events it documents; empty: not known. */
  readonly events: readonly string[];
  /** Loads its shape when it is first asked for; null: it has none. */
  forms(): FormSet | null;
}

export interface Senders {
  byScheme(scheme: string): Sender | null;
  /** All that document an event which passes. */
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
