#include "fakebroker/hooks/builtin_observers.h"

#include "fakebroker/hooks/observer.h"

#define X(name_, help_, options_, create_, record_, observe_produce_, collect_, close_)               \
	static const struct kassay_observer_class class_##name_ = {                                   \
		.struct_size = sizeof(struct kassay_observer_class),                                  \
		.name = #name_, .help = (help_), .options = (options_), .create = (create_),          \
		.record = (record_), .observe_produce = (observe_produce_), .collect = (collect_),    \
		.close = (close_),                                                                    \
	};
#include "fakebroker/hooks/observers.def"
#undef X

const struct kassay_observer_class *const fb_observers[] = {
#define X(name_, help_, options_, create_, record_, observe_produce_, collect_, close_) &class_##name_,
#include "fakebroker/hooks/observers.def"
#undef X
	NULL,
};
