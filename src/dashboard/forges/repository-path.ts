/** Returns the path of a repository in the REST API of GitHub or Forgejo. */
export function toRepositoryPath(fullName: string): string {
  return `/repos/${fullName.split('/').map(encodeURIComponent).join('/')}`;
}
