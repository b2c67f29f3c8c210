/** What is asked of GitHub's GraphQL. One point of its budget is a hundred of the connections that a query may open. */

const RATE_LIMIT = 'rateLimit { cost limit remaining resetAt }';

/** The newest of each kind, and how many there are, tell whether anything is new. */
const REPOSITORY = `
  fragment repository on Repository {
    id nameWithOwner url isArchived isFork viewerPermission pushedAt autoMergeAllowed
    latestPullRequests: pullRequests(states: OPEN, first: 1, orderBy: { field: UPDATED_AT, direction: DESC }) {
      totalCount
      nodes { updatedAt }
    }
    latestIssues: issues(states: OPEN, first: 1, orderBy: { field: UPDATED_AT, direction: DESC }) {
      totalCount
      nodes { updatedAt }
    }
  }`;

const PULL_REQUEST = `
  fragment pullRequest on PullRequest {
    number title url isDraft createdAt updatedAt changedFiles
    author { login }
    labels(first: 20) { nodes { name color } }
    headRefOid headRefName baseRefName isCrossRepository
    mergeable mergeStateStatus reviewDecision
    autoMergeRequest { enabledAt }
    reviewRequests(first: 20) {
      totalCount
      nodes { requestedReviewer { __typename ... on User { login } } }
    }
    latestOpinionatedReviews(first: 20, writersOnly: true) { nodes { state } }
    commits(last: 1) {
      nodes {
        commit {
          statusCheckRollup {
            state
            contexts {
              checkRunCountsByState { state count }
              statusContextCountsByState { state count }
            }
          }
        }
      }
    }
  }`;

const PULL_REQUESTS = `
  fragment pullRequests on Repository {
    pullRequests(states: OPEN, first: $pageSize, after: $pullRequestsAfter, orderBy: { field: CREATED_AT, direction: ASC }) {
      pageInfo { hasNextPage endCursor }
      nodes { ...pullRequest }
    }
  }`;

const ISSUES = `
  fragment issues on Repository {
    issues(states: OPEN, first: 50, after: $issuesAfter, orderBy: { field: CREATED_AT, direction: ASC }) {
      pageInfo { hasNextPage endCursor }
      nodes {
        number title url createdAt updatedAt
        author { login }
        labels(first: 20) { nodes { name color } }
      }
    }
  }`;

/** A repository is found by the user's affiliation with it; without `ORGANIZATION_MEMBER`, those of organizations and teams are not. */
export const DISCOVER = `
  query Discover($after: String) {
    ${RATE_LIMIT}
    viewer {
      repositories(
        first: 100, after: $after, isFork: false, isArchived: false
        affiliations: [OWNER, COLLABORATOR, ORGANIZATION_MEMBER]
        ownerAffiliations: [OWNER, COLLABORATOR, ORGANIZATION_MEMBER]
        orderBy: { field: NAME, direction: ASC }
      ) {
        pageInfo { hasNextPage endCursor }
        nodes { ...repository }
      }
    }
  }${REPOSITORY}`;

/** What discovery tells of repositories whose ids are known. */
export const READ_HEADS = `
  query ReadHeads($ids: [ID!]!) {
    ${RATE_LIMIT}
    nodes(ids: $ids) { ... on Repository { ...repository } }
  }${REPOSITORY}`;

export const READ_REPOSITORIES = `
  query ReadRepositories($ids: [ID!]!, $pageSize: Int!, $pullRequestsAfter: String, $issuesAfter: String) {
    ${RATE_LIMIT}
    nodes(ids: $ids) { ... on Repository { ...repository ...pullRequests ...issues } }
  }${REPOSITORY}${PULL_REQUEST}${PULL_REQUESTS}${ISSUES}`;

export const READ_REPOSITORY = `
  query ReadRepository(
    $owner: String!, $name: String!, $pageSize: Int!, $pullRequestsAfter: String, $issuesAfter: String
  ) {
    ${RATE_LIMIT}
    repository(owner: $owner, name: $name) { ...repository ...pullRequests ...issues }
  }${REPOSITORY}${PULL_REQUEST}${PULL_REQUESTS}${ISSUES}`;

export const MORE_PULL_REQUESTS = `
  query MorePullRequests($id: ID!, $pageSize: Int!, $pullRequestsAfter: String) {
    ${RATE_LIMIT}
    node(id: $id) { ... on Repository { ...pullRequests } }
  }${PULL_REQUEST}${PULL_REQUESTS}`;

export const MORE_ISSUES = `
  query MoreIssues($id: ID!, $issuesAfter: String) {
    ${RATE_LIMIT}
    node(id: $id) { ... on Repository { ...issues } }
  }${ISSUES}`;

/** Everything that decides whether and how to act on one. */
export const READ_PULL_REQUEST = `
  query ReadPullRequest($owner: String!, $name: String!, $number: Int!) {
    ${RATE_LIMIT}
    repository(owner: $owner, name: $name) {
      nameWithOwner autoMergeAllowed mergeCommitAllowed squashMergeAllowed rebaseMergeAllowed
      pullRequest(number: $number) {
        id state
        baseRef { branchProtectionRule { requiresLinearHistory } }
        ...pullRequest
      }
    }
  }${PULL_REQUEST}`;

export const READ_CHECKS = `
  query ReadChecks($owner: String!, $name: String!, $number: Int!, $after: String) {
    ${RATE_LIMIT}
    repository(owner: $owner, name: $name) {
      pullRequest(number: $number) {
        commits(last: 1) {
          nodes {
            commit {
              statusCheckRollup {
                contexts(first: 100, after: $after) {
                  pageInfo { hasNextPage endCursor }
                  nodes {
                    __typename
                    ... on CheckRun {
                      databaseId name status conclusion startedAt completedAt detailsUrl url
                      isRequired(pullRequestNumber: $number)
                      checkSuite { workflowRun { databaseId } }
                    }
                    ... on StatusContext {
                      context state targetUrl
                      isRequired(pullRequestNumber: $number)
                    }
                  }
                }
              }
            }
          }
        }
      }
    }
  }`;

/** The checks of some open pull requests, as a board and its panels read them. */
export const PROBE_CHECKS = `
  query ProbeChecks($ids: [ID!]!) {
    ${RATE_LIMIT}
    nodes(ids: $ids) {
      ... on Repository {
        pullRequests(states: OPEN, first: 3, orderBy: { field: UPDATED_AT, direction: DESC }) {
          nodes { commits(last: 1) { nodes { commit { statusCheckRollup { state contexts(first: 5) { nodes { __typename } } } } } } }
        }
      }
    }
  }`;

/** A refusal comes within seconds of a comment, so that it is among the last ones for a while. */
export const READ_REPLIES = `
  query ReadReplies($ids: [ID!]!) {
    ${RATE_LIMIT}
    nodes(ids: $ids) {
      ... on IssueComment {
        id createdAt
        reactionGroups { content reactors(first: 10) { edges { reactedAt node { ... on Bot { login } } } } }
        pullRequest { comments(last: 20) { nodes { createdAt body author { login } } } }
      }
    }
  }`;

export const ENABLE_AUTO_MERGE = `
  mutation EnableAutoMerge($id: ID!, $method: PullRequestMergeMethod!, $headSha: GitObjectID) {
    enablePullRequestAutoMerge(input: { pullRequestId: $id, mergeMethod: $method, expectedHeadOid: $headSha }) {
      clientMutationId
    }
  }`;
