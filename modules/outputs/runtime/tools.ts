/** Declares outputs as tools, for models that call them. */
import { targetLabel } from '../../../base/label.ts';
import type { OutputTool } from '../../../runtime/dispatch/agent-runner.ts';
import type { ContentField, DispatchOutput } from '../../../schemas/generated/types.ts';

export function toolOf({ name, fields, allow, max, delivery }: DispatchOutput): OutputTool {
  const properties = fields.map((field) => [field.name, schemaOf(field, allow[field.name] ?? field.values)] as const);
  const times = max === 1 ? 'once' : `${max} times`;
  return {
    name,
    description: `Hands a message over to ${targetLabel(delivery)}, at most ${times}. There is no result.`,
    parameters: {
      type: 'object',
      properties: Object.fromEntries(properties),
      required: fields.filter(({ required }) => required).map((field) => field.name),
      additionalProperties: false,
    },
  };
}

function schemaOf({ kind, help, members = [] }: ContentField, values: readonly string[] | undefined): object {
  const text = { type: 'string', ...(values === undefined ? {} : { enum: values }) };
  const described = help === undefined ? {} : { description: help };
  if (kind === 'text' || kind === 'line') return { ...text, ...described };
  if (kind === 'list') return { type: 'array', items: text, ...described };
  const properties = members.map((member) => [member.name, { type: member.kind === 'integer' ? 'integer' : 'string' }]);
  const required = members.map((member) => member.name);
  return {
    type: 'array',
    items: { type: 'object', properties: Object.fromEntries(properties), required },
    ...described,
  };
}
