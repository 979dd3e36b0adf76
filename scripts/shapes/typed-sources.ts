/** Lists the senders whose payloads are described by TypeScript types, and the events in these types. */
import { adyenPlatformTypes, agentmailTypes, squareTypes, twitchTypes, webflowTypes } from './type-files.ts';
import type { TypedSource } from './typed-source.ts';

const module = (name: string, path: string): string => `./node_modules/${name}/${path}`;

const ROOT = { Root: { at: 'type' } };

/** The envelope of every event (docs.slack.dev/apis/events-api). */
const SLACK = `
import type { SlackEvent } from '@slack/types';
type Envelope<Event> = Event extends unknown ? {
  type: 'event_callback'; token: string; team_id: string; api_app_id: string; event: Event;
  event_id: string; event_time: number; event_context?: string;
  enterprise_id?: string | null; context_team_id?: string | null; context_enterprise_id?: string | null;
  is_ext_shared_channel?: boolean; is_enterprise_install?: boolean; authed_users?: string[]; authed_teams?: string[];
  authorizations?: { enterprise_id: string | null; team_id: string | null; user_id: string; is_bot: boolean; is_enterprise_install?: boolean }[];
} : never;
export type Root = Envelope<SlackEvent>;`;

/** Each of two packages has fields that are missing in the other. */
const GITLAB_EVENTS: Readonly<Record<string, readonly string[]>> = {
  Push: ['Push Hook'],
  Tag: ['Tag Push Hook'],
  Issue: ['Issue Hook', 'Confidential Issue Hook'],
  Note: ['Note Hook', 'Confidential Note Hook'],
  MergeRequest: ['Merge Request Hook'],
  Wiki: ['Wiki Page Hook'],
  Pipeline: ['Pipeline Hook'],
  Job: ['Job Hook'],
  Deployment: ['Deployment Hook'],
  GroupMember: ['Member Hook'],
  SubGroup: ['Subgroup Hook'],
  FeatureFlag: ['Feature Flag Hook'],
  Release: ['Release Hook'],
  Emoji: ['Emoji Hook'],
};

const GITLAB = `
import type * as A from 'gitlab-event-types';
import type * as B from '@gitbeaker/core';
export type Push = A.PushEvent | B.WebhookPushEventSchema;
export type Tag = A.TagPushEvent | B.WebhookTagEventSchema;
export type Issue = A.IssueEvent | B.WebhookIssueEventSchema;
export type Note = A.NoteEvent | B.WebhookCommitNoteEventSchema | B.WebhookMergeRequestNoteEventSchema | B.WebhookIssueNoteEventSchema | B.WebhookSnippetNoteEventSchema;
export type MergeRequest = A.MergeRequestEvent | B.WebhookMergeRequestEventSchema;
export type Wiki = A.WikiPageEvent | B.WebhookWikiEventSchema;
export type Pipeline = A.PipelineEvent | B.WebhookPipelineEventSchema;
export type Job = A.BuildEvent | B.WebhookJobEventSchema;
export type Deployment = A.DeploymentEvent | B.WebhookDeploymentEventSchema;
export type GroupMember = A.GroupMemberEvent | B.WebhookGroupMemberEventSchema;
export type SubGroup = A.SubgroupEvent | B.WebhookSubGroupEventSchema;
export type FeatureFlag = A.FeatureFlagEvent | B.WebhookFeatureFlagEventSchema;
export type Release = A.ReleaseEvent | B.WebhookReleaseEventSchema;
export type Emoji = A.EmojiEvent | B.WebhookEmojiEventSchema;`;

const MAILGUN = `
import type { DomainEvent } from ${JSON.stringify(module('mailgun.js', 'Types/Types/Events/Events.js'))};
export type Root = { signature: { timestamp: string; token: string; signature: string; 'parent-signature'?: string }; 'event-data': DomainEvent };`;

export const TYPED_SOURCES: readonly TypedSource[] = [
  {
    source: 'stripe',
    packages: ['stripe'],
    quality: 'good',
    module: `import type { Stripe } from 'stripe'; export type Root = Stripe.Event;`,
    events: ROOT,
    adjust: { unexpanded: true, open: ['metadata'] },
  },
  {
    source: 'slack',
    packages: ['@slack/types'],
    quality: 'good',
    module: SLACK,
    events: { Root: { at: 'event.type' } },
  },
  {
    source: 'linear',
    packages: ['@linear/sdk'],
    quality: 'good',
    module: `import type { LinearWebhookPayload } from '@linear/sdk/webhooks'; export type Root = LinearWebhookPayload;`,
    events: ROOT,
    action: 'action',
    adjust: { drop: ['__typename'], open: ['updatedFrom'] },
  },
  {
    source: 'gitlab',
    packages: ['gitlab-event-types', '@gitbeaker/core'],
    quality: 'good',
    module: GITLAB,
    events: GITLAB_EVENTS,
    // https://docs.gitlab.com/user/project/integrations/webhook_events/: id, name, username, avatar_url, email.
    adjust: { open: ['changes'], closed: ['user'] },
  },
  {
    source: 'telegram',
    packages: ['@grammyjs/types'],
    quality: 'exact',
    module: `import type { Update } from '@grammyjs/types'; export type Root = Update;`,
    events: { Root: ['*'] },
  },
  { source: 'square', packages: ['square'], quality: 'good', ...squareTypes() },
  {
    source: 'paddle',
    packages: ['@paddle/paddle-node-sdk'],
    quality: 'exact',
    module: `import type { IEvents } from ${JSON.stringify(module('@paddle/paddle-node-sdk', 'dist/types/types/events/events-response.js'))}; export type Root = IEvents;`,
    events: { Root: { at: 'event_type' } },
    adjust: { open: ['custom_data'] },
  },
  {
    source: 'clerk',
    packages: ['@clerk/backend'],
    quality: 'exact',
    module: `import type { WebhookEvent } from '@clerk/backend'; export type Root = WebhookEvent;`,
    events: ROOT,
  },
  {
    source: 'resend',
    packages: ['resend'],
    quality: 'exact',
    module: `import type { WebhookEventPayload } from 'resend'; export type Root = WebhookEventPayload;`,
    events: ROOT,
  },
  {
    source: 'workos',
    packages: ['@workos-inc/node'],
    quality: 'exact',
    module: `import type { EventResponse } from '@workos-inc/node'; export type Root = EventResponse;`,
    events: { Root: { at: 'event' } },
  },
  {
    source: 'mux',
    packages: ['@mux/mux-node'],
    quality: 'exact',
    module: `import type { UnwrapWebhookEvent } from ${JSON.stringify(module('@mux/mux-node', 'resources/webhooks/webhooks.js'))}; export type Root = UnwrapWebhookEvent;`,
    events: ROOT,
  },
  {
    source: 'openai',
    packages: ['openai'],
    quality: 'exact',
    module: `import type { UnwrapWebhookEvent } from 'openai/resources/webhooks'; export type Root = UnwrapWebhookEvent;`,
    events: ROOT,
  },
  {
    source: 'anthropic',
    packages: ['@anthropic-ai/sdk'],
    quality: 'exact',
    module: `import type { BetaWebhookEvent } from '@anthropic-ai/sdk/resources/beta/webhooks';
type Each<Data> = Data extends unknown ? Omit<BetaWebhookEvent, 'data'> & { data: Data } : never;
export type Root = Each<BetaWebhookEvent['data']>;`,
    events: { Root: { at: 'data.type' } },
  },
  {
    source: 'adyen-payments',
    packages: ['@adyen/api-library'],
    quality: 'good',
    module: `import type { Notification } from ${JSON.stringify(module('@adyen/api-library', 'lib/src/typings/notification/notification.js'))}; export type Root = Notification;`,
    events: { Root: ['*'] },
    adjust: { open: ['additionalData'], unlisted: ['eventCode', 'success'] },
  },
  { source: 'adyen-platform', packages: ['@adyen/api-library'], quality: 'good', ...adyenPlatformTypes() },
  {
    source: 'discord',
    packages: ['discord-api-types'],
    quality: 'exact',
    module: `import type { APIWebhookEvent, APIInteraction } from 'discord-api-types/v10'; export type Root = APIWebhookEvent | APIInteraction;`,
    events: { Root: ['*'] },
  },
  { source: 'twitch', packages: ['@twurple/eventsub-base'], quality: 'good', ...twitchTypes() },
  { source: 'agentmail', packages: ['agentmail'], quality: 'exact', ...agentmailTypes() },
  { source: 'webflow', packages: ['webflow-api'], quality: 'good', ...webflowTypes() },
  {
    source: 'meta',
    packages: ['whatsapp-api-js'],
    quality: 'partial',
    module: `import type { PostData } from ${JSON.stringify(module('whatsapp-api-js', 'lib/types.js'))}; export type Root = PostData;`,
    events: { Root: { at: 'object' } },
  },
  {
    source: 'bitbucket',
    packages: ['@backstage/plugin-bitbucket-cloud-common'],
    quality: 'partial',
    module: `import type { Events } from '@backstage/plugin-bitbucket-cloud-common'; export type Push = Events.RepoPushEvent; export type Updated = Events.RepoUpdatedEvent;`,
    events: { Push: ['repo:push'], Updated: ['repo:updated'] },
  },
  {
    source: 'launchdarkly',
    packages: ['launchdarkly-api-typescript'],
    quality: 'partial',
    module: `import type { AuditLogEntryRep } from 'launchdarkly-api-typescript'; export type Root = AuditLogEntryRep;`,
    events: { Root: ['*'] },
  },
  {
    source: 'mailgun',
    packages: ['mailgun.js'],
    quality: 'partial',
    module: MAILGUN,
    events: {
      Root: [
        'accepted',
        'rejected',
        'delivered',
        'failed',
        'opened',
        'clicked',
        'unsubscribed',
        'complained',
        'stored',
      ],
    },
    adjust: { open: ['event-data'] },
  },
];
