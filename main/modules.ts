/** The composition root: lists the modules of this program. Nothing else in the core imports a module. */

import type { CliContext } from '../cli/base/context.ts';
import type { Module } from '../cli/base/module.ts';
import { agents } from '../modules/agents/module.ts';
import { blueprints } from '../modules/blueprints/module.ts';
import { cluster } from '../modules/cluster/module.ts';
import { codehosts } from '../modules/codehosts/module.ts';
import { console } from '../modules/console/module.ts';
import { convert } from '../modules/convert/module.ts';
import { guard } from '../modules/guard/module.ts';
import { mail } from '../modules/mail/module.ts';
import { outputs } from '../modules/outputs/module.ts';
import { payloads } from '../modules/payloads/module.ts';
import { rescue } from '../modules/rescue/module.ts';
import { sandbox } from '../modules/sandbox/module.ts';
import { setup } from '../modules/setup/module.ts';
import { telemetry } from '../modules/telemetry/module.ts';
import { tutor } from '../modules/tutor/module.ts';
import { workbench } from '../modules/workbench/module.ts';

export const MODULES: readonly Module<CliContext>[] = [
  agents,
  blueprints,
  cluster,
  codehosts,
  console,
  convert,
  guard,
  mail,
  outputs,
  payloads,
  rescue,
  sandbox,
  setup,
  tutor,
  telemetry,
  workbench,
];
