/** Returns the path of a project in GitLab's REST API, where the full name with its groups is one segment. */
export function toProjectPath(fullName: string): string {
  return `/projects/${encodeURIComponent(fullName)}`;
}

/** Returns the number at the end of a GraphQL id, which is the id in the REST API. */
export function toRestId(globalId: string): string {
  return globalId.replace(/^.*\//, '');
}
