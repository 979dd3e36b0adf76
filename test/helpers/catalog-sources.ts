/** The shipped sources as lowered plans, straight from `catalog/sources/`, for tests of the verifier. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { lowerSource } from '../../compiler/lower/source.ts';
import type { LoweredSource, SourceEntry } from '../../compiler/lower/sources.ts';
import { expandSource, sourceNames } from '../../compiler/lower/sources.ts';
import type { SchemePlan, SourceFile } from '../../schemas/generated/types.ts';

const FOLDER = new URL('../../catalog/sources/', import.meta.url);

export interface ShippedSources {
  readonly entries: readonly SourceEntry[];
  readonly lowered: readonly LoweredSource[];
  /** The plan of a name or alias. */
  plan(name: string): SchemePlan;
}

let loaded: ShippedSources | null = null;

/** Lowered once for all tests of a process. */
export function loadShippedSources(): ShippedSources {
  loaded ??= lowerShipped();
  return loaded;
}

function lowerShipped(): ShippedSources {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('.yaml'));
  const entries = files.sort().flatMap((file) => {
    const text = readFileSync(new URL(file, FOLDER), 'utf8');
    return expandSource(file.slice(0, -'.yaml'.length), parse(text) as SourceFile);
  });
  const lowered = entries.map(({ name, file }) => {
    const { plan, problems } = lowerSource(name, file);
    assert.deepEqual(problems, [], name);
    assert.ok(plan !== null);
    return { name, file, plan };
  });
  const names = sourceNames(entries);
  return {
    entries,
    lowered,
    plan: (name) => {
      const found = lowered.find((source) => source.name === names.get(name));
      assert.ok(found !== undefined, `no source ${name}`);
      return found.plan;
    },
  };
}
