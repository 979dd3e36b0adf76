/** What an agent may use up, and who is told when it fails: usage, budgets, loops, alerts. */
import type { CliContext } from '../../cli/base/context.ts';
import type { Module } from '../../cli/base/module.ts';

export const guard: Module<CliContext> = {
  name: 'guard',
  summary: 'What an agent may use up, and who is told when it fails: usage, budgets, loops, alerts.',
  commands: [],
  compiler: null,
  runtime: null,
  database: null,
  payloads: null,
  names: null,
  explain: null,
  gate: null,
};
