#include "fakebroker/session.h"

#include <stdio.h>
#include <stdlib.h>

#include "fakebroker/request.h"

static struct kassay_str str_of(const char *s)
{
	return fb_hook_str(kw_str(s));
}

int64_t fb_session_max_idle(struct fb_cluster *cluster, struct fb_node *node)
{
	int64_t ms;

	pthread_rwlock_rdlock(&cluster->lock);
	ms = fb_configs_kept_long(cluster->configs, node->id, "connections.max.idle.ms", 600000, &node->max_idle);
	pthread_rwlock_unlock(&cluster->lock);
	return ms;
}

bool fb_session_began(void *arg, struct fb_conn *conn)
{
	struct fb_node *node = fb_conn_tag(conn);
	struct fb_session *session = malloc(sizeof *session);

	if (!session)
		return false;
	fb_conn_set_session(conn, session);
	fb_conn_set_max_idle(conn, fb_session_max_idle(arg, node));
	*session = (struct fb_session){
		.state = FB_AUTH_DONE, .listener = str_of(node->auth.name), .address = str_of(fb_conn_address(conn)),
		.principal = str_of(FB_ANONYMOUS),
	};
	if (node->auth.protocol == FB_SASL_PLAINTEXT) {
		session->state = FB_AUTH_FIRST;
		fb_conn_set_max_frame(conn, node->auth.max_token);
	}
	return true;
}

void fb_session_ended(void *arg, struct fb_conn *conn)
{
	struct fb_session *session = fb_conn_session(conn);

	(void)arg;
	if (!session)
		return;
	free(session->user);
	free(session);
	fb_conn_set_session(conn, NULL);
}

int fb_session_log_in(struct fb_session *session, const char *user)
{
	if (asprintf(&session->user, "User:%s", user) < 0) {
		session->user = NULL;
		return KT_ENOMEM;
	}
	session->principal = str_of(session->user);
	session->state = FB_AUTH_DONE;
	return 0;
}
