/** GitHub and GitLab as targets: comments that are kept up to date, app tokens, the posting account, the client `gh`, and marks that show progress. */
import type { CliContext } from '../../cli/base/context.ts';
import type { Module } from '../../cli/base/module.ts';

export const codehosts: Module<CliContext> = {
  name: 'codehosts',
  compiler: async () => ({ rules: (await import('./compiler/rules/built/rule-files.ts')).RULE_FILES }),
  runtime: {
    progress: async () => (await import('./runtime/progress.ts')).openProgress,
    drivers: {
      github_comment: async () => (await import('./runtime/github-comment.ts')).createGithubCommentDriver,
      posts: async () => (await import('./runtime/posts-driver.ts')).createPostsDriver,
    },
  },
};
