/** Loads nothing, so that GraphQL Code Generator leaves every pointer to its loaders of files. */
class RemoteLoader {
  async load() {
    return [];
  }

  loadSync() {
    return [];
  }
}

exports.ApolloEngineLoader = RemoteLoader;
exports.GitLoader = RemoteLoader;
exports.GithubLoader = RemoteLoader;
exports.UrlLoader = RemoteLoader;
