/** `hookwright/runtime`, with the modules of this program. */

import { runtimeParts } from '../cli/base/module.ts';
import type { Service, ServiceOptions } from '../runtime/service/options.ts';
import { createService as create, publicService } from '../runtime/service/service.ts';
import { MODULES } from './modules.ts';
import { programOf } from './program.ts';

export * from '../runtime/index.ts';

/**
 * Creates a service: links the table and opens the store in `<home>`. Nothing listens or runs before `listen`, `handle` or
 * `start`.
 *
 * @param options `table` and `home`; everything else has a default
 * @returns a promise of the service. It rejects with TableError, which lists every reason why the table cannot be served (a
 * missing secret, another format), and with StoreRefused when the store cannot be used.
 *
 * @example
 * ```ts
 * import { compileText } from 'hookwright/compiler';
 * import { createService } from 'hookwright/runtime';
 *
 * const yaml = 'platforms: { webhook: { enabled: true, secret: "env:SECRET", routes: { issues: { prompt: "{title}" } } } }';
 * const env = { SECRET: 'at-least-16-bytes-long' };
 * const { table } = await compileText(yaml, { home: '/var/lib/app', env });
 * if (table === null) throw new Error('the config has errors');
 *
 * const service = await createService({ table, home: '/var/lib/app', env, agent: ({ prompt }) => `answer to ${prompt}` });
 * const { url } = await service.listen({ host: '127.0.0.1', port: 0 });
 * console.log((await fetch(`${url}/health`)).status); // 200
 * await service.stop({ drainMs: 5000 });
 * ```
 */
export const createService = async (options: ServiceOptions): Promise<Service> =>
  publicService(await create(options, runtimeParts(MODULES), programOf(MODULES, options)));
