/** Display names of targets and schemes; tables and stores use the canonical names. */

export interface Labelled {
  readonly name: string;
  readonly label?: string;
}

/** The name from the config, else the service's usual name, else the canonical name. */
export const labelOf = ({ name, label }: Labelled): string => label ?? name;

/** The display name of a delivery's target. */
export const targetLabel = ({ target, label }: { readonly target: string; readonly label?: string }): string =>
  label ?? target;

/** The label that a delivery copies from its target's plan, if there is one. */
export const labelField = (plan: Labelled | undefined): { readonly label?: string } =>
  plan?.label === undefined ? {} : { label: plan.label };

/** The display name for a canonical name. Names that are not in the table are returned unchanged. */
export function labelIn(plans: Readonly<Record<string, Labelled>>, name: string): string {
  const plan = Object.hasOwn(plans, name) ? plans[name] : undefined;
  return plan === undefined ? name : labelOf(plan);
}
