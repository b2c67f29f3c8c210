/** GitHub's GraphQL queries. GitHub charges one point of the API quota per hundred connections of a query. */

const RATE_LIMIT = 'rateLimit { cost limit remaining resetAt }';

/** The fields of a repository without connections, so that GitHub charges one point for any number of repositories. */
const HEAD = `
  fragment head on Repository {
    id nameWithOwner url isArchived isFork viewerPermission pushedAt autoMergeAllowed
  }`;

/** The count and the latest update of pull requests and of issues serve to detect changes. */
const REPOSITORY = `
  fragment repository on Repository {
    ...head
    latestPullRequests: pullRequests(states: OPEN, first: 1, orderBy: { field: UPDATED_AT, direction: DESC }) {
      totalCount
      nodes { updatedAt }
    }
    latestIssues: issues(states: OPEN, first: 1, orderBy: { field: UPDATED_AT, direction: DESC }) {
      totalCount
      nodes { updatedAt }
    }
  }${HEAD}`;

/** The values that change without a new revision of the repository, and those that identify the version of the rest. */
const STATUS = `
  fragment status on PullRequest {
    number updatedAt headRefOid isDraft mergeable mergeStateStatus reviewDecision
    autoMergeRequest { enabledAt }
    isMergeQueueEnabled mergeQueueEntry { position state }
    statusCheckRollup { state }
  }`;

const PULL_REQUEST = `
  fragment pullRequest on PullRequest {
    id number title url isDraft createdAt updatedAt additions deletions changedFiles
    author { __typename login }
    labels(first: 20) { nodes { name color } }
    headRefOid headRefName baseRefName isCrossRepository
    mergeable mergeStateStatus reviewDecision
    autoMergeRequest { enabledAt }
    isMergeQueueEnabled mergeQueueEntry { position state }
    reviewRequests(first: 20) {
      totalCount
      nodes { requestedReviewer { __typename ... on User { login } } }
    }
    latestOpinionatedReviews(first: 20, writersOnly: true) { nodes { state author { login } } }
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
    issues(states: OPEN, first: $issuePageSize, after: $issuesAfter, orderBy: { field: CREATED_AT, direction: ASC }) {
      pageInfo { hasNextPage endCursor }
      nodes {
        number title url createdAt updatedAt
        author { login }
        labels(first: 20) { nodes { name color } }
      }
    }
  }`;

/** Repositories of organizations and teams are found only with the affiliation `ORGANIZATION_MEMBER`. */
const AFFILIATED = `
  isFork: false, isArchived: false
  affiliations: [OWNER, COLLABORATOR, ORGANIZATION_MEMBER]
  ownerAffiliations: [OWNER, COLLABORATOR, ORGANIZATION_MEMBER]`;

/** A page of 74 costs one point, as its 149 connections are rounded down, and one of 100 costs two. */
export const DISCOVER = `
  query Discover($after: String) {
    ${RATE_LIMIT}
    viewer {
      repositories(first: 74, after: $after, ${AFFILIATED}, orderBy: { field: NAME, direction: ASC }) {
        totalCount
        pageInfo { hasNextPage endCursor }
        nodes { ...repository }
      }
    }
  }${REPOSITORY}`;

/** Reads the same fields as {@link DISCOVER} for repositories with known ids. */
export const READ_SUMMARIES = `
  query ReadSummaries($ids: [ID!]!) {
    ${RATE_LIMIT}
    nodes(ids: $ids) { ... on Repository { ...repository } }
  }${REPOSITORY}`;

/**
 * Reads repositories with known ids, and how many {@link DISCOVER} would list. GitHub accepts a hundred ids per list.
 * Costs one point.
 */
export const READ_HEADS = `
  query ReadHeads($a: [ID!]!, $b: [ID!]!, $c: [ID!]!, $d: [ID!]!) {
    ${RATE_LIMIT}
    viewer { repositories(first: 1, ${AFFILIATED}) { totalCount } }
    a: nodes(ids: $a) { ... on Repository { ...head } }
    b: nodes(ids: $b) { ... on Repository { ...head } }
    c: nodes(ids: $c) { ... on Repository { ...head } }
    d: nodes(ids: $d) { ... on Repository { ...head } }
  }${HEAD}`;

/** Reads the status of open pull requests of up to 149 repositories for one point, as each has one connection. */
export const READ_STATUSES = `
  query ReadStatuses($ids: [ID!]!, $after: String) {
    ${RATE_LIMIT}
    nodes(ids: $ids) {
      ... on Repository {
        id autoMergeAllowed
        statuses: pullRequests(states: OPEN, first: 100, after: $after, orderBy: { field: CREATED_AT, direction: ASC }) {
          pageInfo { hasNextPage endCursor }
          nodes { ...status }
        }
      }
    }
  }${STATUS}`;

export const READ_REPOSITORIES = `
  query ReadRepositories(
    $ids: [ID!]!, $pageSize: Int!, $issuePageSize: Int!, $pullRequestsAfter: String, $issuesAfter: String
  ) {
    ${RATE_LIMIT}
    nodes(ids: $ids) { ... on Repository { ...repository ...pullRequests ...issues } }
  }${REPOSITORY}${PULL_REQUEST}${PULL_REQUESTS}${ISSUES}`;

export const READ_REPOSITORY = `
  query ReadRepository(
    $owner: String!, $name: String!, $pageSize: Int!, $issuePageSize: Int!
    $pullRequestsAfter: String, $issuesAfter: String
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
  query MoreIssues($id: ID!, $issuePageSize: Int!, $issuesAfter: String) {
    ${RATE_LIMIT}
    node(id: $id) { ... on Repository { ...issues } }
  }${ISSUES}`;

/** Reads everything that decides whether and how to perform an action on a pull request. */
export const READ_PULL_REQUEST = `
  query ReadPullRequest($owner: String!, $name: String!, $number: Int!) {
    ${RATE_LIMIT}
    repository(owner: $owner, name: $name) {
      nameWithOwner autoMergeAllowed mergeCommitAllowed squashMergeAllowed rebaseMergeAllowed
      pullRequest(number: $number) {
        state
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
                      checkSuite { status workflowRun { databaseId } }
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

/** Reads the details of a pull request, which the board lacks. */
export const READ_DETAILS = `
  query ReadDetails($owner: String!, $name: String!, $number: Int!) {
    ${RATE_LIMIT}
    repository(owner: $owner, name: $name) {
      pullRequest(number: $number) {
        additions deletions changedFiles
        commits { totalCount }
        milestone { title }
        assignees(first: 20) { nodes { login } }
        reviewRequests(first: 50) {
          nodes { asCodeOwner requestedReviewer { __typename ... on User { login } ... on Team { combinedSlug } } }
        }
        baseRef {
          branchProtectionRule { requiredApprovingReviewCount }
          rules(first: 50) { nodes { parameters { ... on PullRequestParameters { requiredApprovingReviewCount } } } }
        }
        reviews(last: 50) { nodes { state submittedAt author { login } } }
        latestOpinionatedReviews(first: 50) { nodes { state submittedAt author { login } } }
        reviewThreads(last: 100) {
          nodes { isResolved path line comments(first: 1) { nodes { bodyText url createdAt author { login } } } }
        }
        comments(last: 20) { nodes { bodyText url createdAt author { login } } }
      }
    }
  }`;

/** Reads the checks of a few open pull requests in the same way as the board and the list of checks. */
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

/** Reads the last 20 comments only: Dependabot rejects a command within seconds. */
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

const FOUND = `
  fragment found on SearchResultItemConnection {
    issueCount
    pageInfo { hasNextPage endCursor }
    nodes { ... on PullRequest { id number updatedAt repository { id nameWithOwner url } } }
  }`;

/** Finds the pull requests of a search with `@me`. Needs no scope of its own, not even for reviews of teams. */
export const SEARCH_PULL_REQUESTS = `
  query SearchPullRequests($query: String!, $after: String) {
    ${RATE_LIMIT}
    search(type: ISSUE, query: $query, first: 100, after: $after) { ...found }
  }${FOUND}`;

/** Reads the first page of each search for one point. */
export const SEARCH_INVOLVED = `
  query SearchInvolved($author: String!, $review_requested: String!, $assigned: String!, $mentioned: String!) {
    ${RATE_LIMIT}
    author: search(type: ISSUE, query: $author, first: 100) { ...found }
    review_requested: search(type: ISSUE, query: $review_requested, first: 100) { ...found }
    assigned: search(type: ISSUE, query: $assigned, first: 100) { ...found }
    mentioned: search(type: ISSUE, query: $mentioned, first: 100) { ...found }
  }${FOUND}`;

/** Reads pull requests with known ids, whatever their repositories. */
export const READ_PULL_REQUESTS = `
  query ReadPullRequests($ids: [ID!]!) {
    ${RATE_LIMIT}
    nodes(ids: $ids) {
      ... on PullRequest {
        state
        repository { id nameWithOwner url viewerPermission autoMergeAllowed }
        ...pullRequest
      }
    }
  }${PULL_REQUEST}`;

/** Reads the status of pull requests with known ids for one point. */
export const READ_PULL_REQUEST_STATUSES = `
  query ReadPullRequestStatuses($ids: [ID!]!) {
    ${RATE_LIMIT}
    nodes(ids: $ids) {
      ... on PullRequest {
        id state
        repository { nameWithOwner viewerPermission autoMergeAllowed }
        ...status
      }
    }
  }${STATUS}`;

/** Reads reviews, requests for them and changes of draft state as one connection, as each connection has a cost. */
const HISTORY = `
  fragment history on Repository {
    history: pullRequests(first: $pageSize, after: $after, orderBy: { field: UPDATED_AT, direction: DESC }) {
      pageInfo { hasNextPage endCursor }
      nodes {
        number title url isDraft createdAt updatedAt mergedAt closedAt
        author { __typename login }
        timelineItems(first: 100, itemTypes: [
          PULL_REQUEST_REVIEW, READY_FOR_REVIEW_EVENT, CONVERT_TO_DRAFT_EVENT, REVIEW_REQUESTED_EVENT,
          REVIEW_REQUEST_REMOVED_EVENT
        ]) {
          nodes {
            __typename
            ... on PullRequestReview { state submittedAt author { __typename login } }
            ... on ReadyForReviewEvent { createdAt }
            ... on ConvertToDraftEvent { createdAt }
            ... on ReviewRequestedEvent {
              createdAt
              requestedReviewer { __typename ... on User { login } ... on Bot { login } ... on Mannequin { login } }
            }
            ... on ReviewRequestRemovedEvent {
              createdAt
              requestedReviewer { __typename ... on User { login } ... on Bot { login } ... on Mannequin { login } }
            }
          }
        }
      }
    }
  }`;

/** Reads the newest changes of pull requests, whatever their state. */
export const READ_HISTORIES = `
  query ReadHistories($ids: [ID!]!, $pageSize: Int!, $after: String) {
    ${RATE_LIMIT}
    nodes(ids: $ids) { ... on Repository { id ...history } }
  }${HISTORY}`;

export const ENABLE_AUTO_MERGE = `
  mutation EnableAutoMerge($id: ID!, $method: PullRequestMergeMethod!, $headSha: GitObjectID) {
    enablePullRequestAutoMerge(input: { pullRequestId: $id, mergeMethod: $method, expectedHeadOid: $headSha }) {
      clientMutationId
    }
  }`;

export const DISABLE_AUTO_MERGE = `
  mutation DisableAutoMerge($id: ID!) {
    disablePullRequestAutoMerge(input: { pullRequestId: $id }) { clientMutationId }
  }`;

export const ENQUEUE = `
  mutation Enqueue($id: ID!, $headSha: GitObjectID) {
    enqueuePullRequest(input: { pullRequestId: $id, expectedHeadOid: $headSha }) { clientMutationId }
  }`;

export const DEQUEUE = `
  mutation Dequeue($id: ID!) {
    dequeuePullRequest(input: { id: $id }) { clientMutationId }
  }`;
