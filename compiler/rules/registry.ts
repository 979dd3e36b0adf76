/** Every rule of the compiler, in the order in which docs/rules.md explains them: the only registry there is. */
import { agentChoice } from './agent-choice.ts';
import { agentUnconfined } from './agent-unconfined.ts';
import { barredToolset } from './barred-toolset.ts';
import { blueprintDefault } from './blueprint-default.ts';
import { blueprintField } from './blueprint-field.ts';
import { blueprintPrompt } from './blueprint-prompt.ts';
import { blueprintSchedule } from './blueprint-schedule.ts';
import { blueprintUnusedField } from './blueprint-unused-field.ts';
import { coalesceKey } from './coalesce-key.ts';
import { coalesceMode } from './coalesce-mode.ts';
import { consoleWithoutToken } from './console-without-token.ts';
import { deliverOnlyTarget } from './deliver-only-target.ts';
import { deliverOnlyWithCronJob } from './deliver-only-with-cron-job.ts';
import { duplicateDefinition } from './duplicate-definition.ts';
import { duplicateKey } from './duplicate-key.ts';
import { emptyConfig } from './empty-config.ts';
import { emptyInclude } from './empty-include.ts';
import { envFileSyntax } from './env-file-syntax.ts';
import { eventGlob } from './event-glob.ts';
import { filterField } from './filter-field.ts';
import { filterFile } from './filter-file.ts';
import { filterOperator } from './filter-operator.ts';
import { filterShape } from './filter-shape.ts';
import { idempotencyWindow } from './idempotency-window.ts';
import { impossibleFilter } from './impossible-filter.ts';
import { insecureBind } from './insecure-bind.ts';
import { invalidEnvironment } from './invalid-environment.ts';
import { invalidName } from './invalid-name.ts';
import { invalidNumber } from './invalid-number.ts';
import { invalidSchedule } from './invalid-schedule.ts';
import { invalidTimezone } from './invalid-timezone.ts';
import { invalidValue } from './invalid-value.ts';
import { legacySignature } from './legacy-signature.ts';
import { listFileMissing } from './list-file-missing.ts';
import { lostDigits } from './lost-digits.ts';
import { missingAddress } from './missing-address.ts';
import { missingDeliverExtra } from './missing-deliver-extra.ts';
import { missingKey } from './missing-key.ts';
import { missingPublicUrl } from './missing-public-url.ts';
import { missingSetting } from './missing-setting.ts';
import { missingVerifyToken } from './missing-verify-token.ts';
import { noEffect } from './no-effect.ts';
import { noReplayProtection } from './no-replay-protection.ts';
import { noSecondAttempt } from './no-second-attempt.ts';
import { overriddenSetting } from './overridden-setting.ts';
import { profileIncomplete } from './profile-incomplete.ts';
import { publicKeyScheme } from './public-key-scheme.ts';
import { rateBelowBurst } from './rate-below-burst.ts';
import { rawPayload } from './raw-payload.ts';
import { regexSyntax } from './regex-syntax.ts';
import { routeWithoutSecret } from './route-without-secret.ts';
import { scheduleGap } from './schedule-gap.ts';
import { scheduleNever } from './schedule-never.ts';
import { scheduleStep } from './schedule-step.ts';
import { scriptMissing } from './script-missing.ts';
import { scriptOutside } from './script-outside.ts';
import { secretConflict } from './secret-conflict.ts';
import { secretExpiry } from './secret-expiry.ts';
import { secretExposed } from './secret-exposed.ts';
import { secretPlaceholder } from './secret-placeholder.ts';
import { secretReference } from './secret-reference.ts';
import { secretShort } from './secret-short.ts';
import { selfTrigger } from './self-trigger.ts';
import { shadowedSetting } from './shadowed-setting.ts';
import { shellPlaceholder } from './shell-placeholder.ts';
import { slowDirectDelivery } from './slow-direct-delivery.ts';
import { sourceScheme } from './source-scheme.ts';
import { storeUrl } from './store-url.ts';
import { subscriptionRejected } from './subscription-rejected.ts';
import type { ViewRule } from './support/view-rule.ts';
import { targetAddress } from './target-address.ts';
import { targetBody } from './target-body.ts';
import { targetDriver } from './target-driver.ts';
import { targetHeader } from './target-header.ts';
import { targetNeeds } from './target-needs.ts';
import { targetNotEnabled } from './target-not-enabled.ts';
import { targetOutcome } from './target-outcome.ts';
import { targetPath } from './target-path.ts';
import { targetPattern } from './target-pattern.ts';
import { targetRequest } from './target-request.ts';
import { targetRetryAfter } from './target-retry-after.ts';
import { targetSetting } from './target-setting.ts';
import { targetValue } from './target-value.ts';
import { templateBraces } from './template-braces.ts';
import { templateHeaders } from './template-headers.ts';
import { templateSyntax } from './template-syntax.ts';
import { tokenWithoutTls } from './token-without-tls.ts';
import { unknownDeliverExtra } from './unknown-deliver-extra.ts';
import { unknownEvent } from './unknown-event.ts';
import { unknownEventAction } from './unknown-event-action.ts';
import { unknownJob } from './unknown-job.ts';
import { unknownKey } from './unknown-key.ts';
import { unknownPayloadPath } from './unknown-payload-path.ts';
import { unknownProfile } from './unknown-profile.ts';
import { unknownSkill } from './unknown-skill.ts';
import { unknownSource } from './unknown-source.ts';
import { unknownTarget } from './unknown-target.ts';
import { unknownToolset } from './unknown-toolset.ts';
import { unreachableRoute } from './unreachable-route.ts';
import { unreadableFile } from './unreadable-file.ts';
import { unsafeUrl } from './unsafe-url.ts';
import { unsignedSource } from './unsigned-source.ts';
import { untrustedInput } from './untrusted-input.ts';
import { webhookDisabled } from './webhook-disabled.ts';
import { wholePayloadMessage } from './whole-payload-message.ts';
import { wrongType } from './wrong-type.ts';
import { yamlAlias } from './yaml-alias.ts';
import { yamlSyntax } from './yaml-syntax.ts';

export interface RuleGroup {
  readonly title: string;
  readonly rules: readonly ViewRule[];
}

export const RULE_GROUPS = [
  {
    title: 'Reading',
    rules: [
      unreadableFile,
      yamlSyntax,
      yamlAlias,
      duplicateKey,
      duplicateDefinition,
      emptyConfig,
      emptyInclude,
      envFileSyntax,
    ],
  },
  { title: 'Shape', rules: [unknownKey, missingKey, wrongType, invalidValue, invalidNumber, invalidName] },
  {
    title: 'Routes: what makes the server refuse to start (§7)',
    rules: [routeWithoutSecret, deliverOnlyTarget, deliverOnlyWithCronJob, coalesceMode, insecureBind],
  },
  {
    title: 'Routes: names',
    rules: [
      unknownTarget,
      missingDeliverExtra,
      unknownDeliverExtra,
      unknownSource,
      unknownJob,
      unknownProfile,
      profileIncomplete,
      unknownSkill,
      unknownToolset,
      barredToolset,
    ],
  },
  {
    title: 'Routes: signatures and secrets',
    rules: [
      secretConflict,
      secretExpiry,
      secretPlaceholder,
      secretReference,
      publicKeyScheme,
      missingPublicUrl,
      unsignedSource,
      legacySignature,
      secretShort,
      secretExposed,
    ],
  },
  {
    title: 'Routes: what is known of the sender',
    rules: [
      unknownEvent,
      idempotencyWindow,
      slowDirectDelivery,
      noSecondAttempt,
      noReplayProtection,
      tokenWithoutTls,
      rateBelowBurst,
      missingVerifyToken,
    ],
  },
  {
    title: 'Routes: templates, filters, scripts',
    rules: [
      templateSyntax,
      templateBraces,
      templateHeaders,
      coalesceKey,
      eventGlob,
      filterShape,
      filterOperator,
      filterField,
      filterFile,
      regexSyntax,
      scriptOutside,
      scriptMissing,
      listFileMissing,
      unknownPayloadPath,
      impossibleFilter,
      unknownEventAction,
      rawPayload,
      wholePayloadMessage,
    ],
  },
  { title: 'Routes: what strangers can reach', rules: [untrustedInput, agentUnconfined, selfTrigger] },
  {
    title: 'Routes: reach and effect',
    rules: [
      unreachableRoute,
      subscriptionRejected,
      targetNotEnabled,
      missingSetting,
      missingAddress,
      lostDigits,
      noEffect,
    ],
  },
  {
    title: 'The rest of the config',
    rules: [
      webhookDisabled,
      shadowedSetting,
      overriddenSetting,
      invalidEnvironment,
      invalidTimezone,
      agentChoice,
      shellPlaceholder,
      unsafeUrl,
      storeUrl,
      consoleWithoutToken,
    ],
  },
  { title: 'Jobs', rules: [invalidSchedule, scheduleNever, scheduleStep, scheduleGap] },
  {
    title: 'Entries of your own catalog',
    rules: [
      sourceScheme,
      targetValue,
      targetSetting,
      targetAddress,
      targetHeader,
      targetRequest,
      targetDriver,
      targetPath,
      targetBody,
      targetPattern,
      targetOutcome,
      targetRetryAfter,
      targetNeeds,
      blueprintField,
      blueprintDefault,
      blueprintSchedule,
      blueprintPrompt,
      blueprintUnusedField,
    ],
  },
] as const satisfies readonly RuleGroup[];

export type RuleId = (typeof RULE_GROUPS)[number]['rules'][number]['id'];

const groups: readonly RuleGroup[] = RULE_GROUPS;

export const RULES: readonly ViewRule[] = Object.freeze(groups.flatMap(({ rules }) => rules));
