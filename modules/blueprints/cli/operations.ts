/** The control operations of blueprints. */
import type { CliContext } from '../../../cli/base/context.ts';
import type { ServedGateway } from '../../../cli/base/module.ts';
import type { HandlersOf } from '../../../runtime/control/operations.ts';
import type { Catalog } from '../../../schemas/generated/types.ts';

export const blueprintOperations = ({ context, service }: ServedGateway<CliContext>): HandlersOf<'blueprints'> => ({
  create_blueprint_job: async (request) =>
    (await import('./filled-job.ts')).createBlueprintJob(context, service, request),
  /** The response of the public server. */
  blueprints_list: async () => {
    const answer = await service.handle(new Request('http://localhost/blueprints'));
    return answer.ok ? ((await answer.json()) as Catalog) : [];
  },
});
