/** Values of flags that are written as YAML, such as `--filter '{field: action, equals: opened}'`. */
import { parse } from 'yaml';
import { messageOf } from '../../base/message-of.ts';
import type { BudgetConfig } from '../../schemas/generated/types.ts';
import { UsageError } from '../base/errors.ts';

/** A map or list. @throws UsageError */
export function parseFlagYaml(text: string, flag: string, example: string): object {
  let value: unknown;
  try {
    value = parse(text, { logLevel: 'error', maxAliasCount: 10 });
  } catch (error) {
    throw new UsageError(
      `${flag} is not YAML: ${messageOf(error).split('\n')[0] ?? ''}`,
      `for instance ${flag} ${example}`,
    );
  }
  if (typeof value === 'object' && value !== null) return value;
  throw new UsageError(`${flag} takes a map, not "${text}"`, `for instance ${flag} ${example}`);
}

const BUDGET = "'{runs: 20, per: day}'";
const LIMITS = ['runs', 'tokens', 'cost'];

/** @throws UsageError */
export function parseBudgetFlag(text: string): BudgetConfig {
  const { per, ...limits } = parseFlagYaml(text, '--budget', BUDGET) as Readonly<Record<string, unknown>>;
  const isLimit = ([name, value]: readonly [string, unknown]): boolean =>
    LIMITS.includes(name) &&
    (name === 'cost' ? Number.isFinite(value) : Number.isSafeInteger(value)) &&
    Number(value) > 0;
  if ((per === 'hour' || per === 'day') && Object.entries(limits).every(isLimit)) return { ...limits, per };
  throw new UsageError(
    `--budget takes runs, tokens or cost, numbers above 0, and per: hour or day, not "${text}"`,
    `for instance --budget ${BUDGET}`,
  );
}
