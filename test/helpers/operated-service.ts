/** A service with its operator interface, and all modules. */
import { runtimeParts } from '../../cli/base/module.ts';
import { MODULES } from '../../main/modules.ts';
import { programOf } from '../../main/program.ts';
import type { OperatedService, ProgramOptions, ServiceOptions } from '../../runtime/service/options.ts';
import { createService as create } from '../../runtime/service/service.ts';

export const createService = (options: ServiceOptions, program: ProgramOptions = {}): Promise<OperatedService> =>
  create(options, runtimeParts(MODULES), { ...programOf(MODULES, options), ...program });
