/** The shipped blueprints, read and lowered, for the tests that use them. */
import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { lowerBlueprint } from '../../modules/blueprints/compiler/load-blueprints.ts';
import type { BlueprintFile, BlueprintPlan } from '../../schemas/generated/types.ts';

const FOLDER = new URL('../../catalog/blueprints/', import.meta.url);

export function blueprintFileNames(): readonly string[] {
  return readdirSync(FOLDER).sort();
}

export function readBlueprintFile(name: string): BlueprintFile {
  return parse(readFileSync(new URL(name, FOLDER), 'utf8')) as BlueprintFile;
}

function lowerShipped(name: string): BlueprintPlan {
  const { plan, problems } = lowerBlueprint(readBlueprintFile(name));
  if (plan === null || problems.length > 0) throw new Error(`${name}: ${JSON.stringify(problems)}`);
  return plan;
}

let lowered: readonly BlueprintPlan[] | null = null;

/** Lowered once for all tests of a process. */
export function shippedBlueprints(): readonly BlueprintPlan[] {
  lowered ??= blueprintFileNames().map(lowerShipped);
  return lowered;
}

export function shippedBlueprint(key: string): BlueprintPlan {
  const plan = shippedBlueprints().find((one) => one.key === key);
  if (plan === undefined) throw new Error(`no shipped blueprint ${key}`);
  return plan;
}
