/** The names that people see, in place of the canonical ones that tables and stores hold. */

export interface Labelled {
  readonly name: string;
  readonly label?: string;
}

/** As the config writes it, else as it is known; the canonical name where that is the same. */
export const labelOf = ({ name, label }: Labelled): string => label ?? name;

/** The name of a delivery's target. */
export const targetLabel = ({ target, label }: { readonly target: string; readonly label?: string }): string =>
  label ?? target;

/** What a delivery to a target carries of its plan. */
export const labelField = (plan: Labelled | undefined): { readonly label?: string } =>
  plan?.label === undefined ? {} : { label: plan.label };

/** The same by canonical name. What the table does not have keeps its name. */
export function labelIn(plans: Readonly<Record<string, Labelled>>, name: string): string {
  const plan = Object.hasOwn(plans, name) ? plans[name] : undefined;
  return plan === undefined ? name : labelOf(plan);
}
