/** What operators are told of, in the order of `gateway.alerts.on`. */

const TITLES = {
  run_failed: 'runs fail',
  delivery_dead: 'deliveries are given up',
  job_missed: 'a job was not fired',
  job_failed: 'a job fails',
  subscription_rejected: 'a subscription is rejected',
  store_unavailable: 'the store takes no events',
  budget: 'a budget is used up',
  loop: 'a key is paused, because it has had too many runs',
  signature_failures: 'requests have no valid signature',
  approval: 'an approval is waited for',
} as const;

export const ALERT_KINDS = Object.keys(TITLES) as readonly (keyof typeof TITLES)[];

/** In words, for a message. */
export const alertTitle = (kind: keyof typeof TITLES): string => TITLES[kind];
