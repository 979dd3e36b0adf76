/** The shipped targets, read and lowered, and bindings of them for tests. */
import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { completeTarget } from '../../compiler/config/target-entries.ts';
import { lowerTarget } from '../../compiler/lower/targets.ts';
import { target as validate } from '../../schemas/built/validators.ts';
import type { TargetBinding, TargetFile, TargetPlan } from '../../schemas/generated/types.ts';

const FOLDER = new URL('../../catalog/targets/', import.meta.url);

export function targetNames(): readonly string[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => file.slice(0, -'.yaml'.length))
    .sort();
}

export function readTargetFile(name: string): TargetFile {
  const read = (file: string) => parse(readFileSync(new URL(`${file}.yaml`, FOLDER), 'utf8')) as TargetFile;
  const file = read(name);
  return completeTarget(file, new Map(file.like === undefined ? [] : [[file.like, read(file.like)]]));
}

/** Throws the problem with it, so that a test shows it. */
export function lowerTargetFile(name: string, file: unknown): TargetPlan {
  const valid = validate as unknown as { (value: unknown): boolean; errors: unknown };
  if (!valid(file)) throw new Error(`${name}: ${JSON.stringify(valid.errors, null, 1)}`);
  const { plan, problems } = lowerTarget(name, file as TargetFile);
  if (plan === null) throw new Error(`${name}: ${JSON.stringify(problems, null, 1)}`);
  return plan;
}

const lowered = new Map<string, TargetPlan>();

/** Lowered once for all tests of a process. */
export function shippedTarget(name: string): TargetPlan {
  const plan = lowered.get(name) ?? lowerTargetFile(name, readTargetFile(name));
  lowered.set(name, plan);
  return plan;
}

export function shippedTargets(): Readonly<Record<string, TargetPlan>> {
  return Object.fromEntries(targetNames().map((name) => [name, shippedTarget(name)]));
}

/** A binding with literal credentials. */
export function bindingOf(
  credentials: Readonly<Record<string, string>>,
  more: Partial<TargetBinding> = {},
): TargetBinding {
  const refs = Object.entries(credentials).map(
    ([name, value]) => [name, { kind: 'literal', value, scope: 'default' }] as const,
  );
  return {
    variant: null,
    home_channel: null,
    api_base: null,
    allow_http: false,
    credentials: Object.fromEntries(refs),
    options: {},
    at_most_once: false,
    max_attempts: 8,
    ...more,
  };
}
